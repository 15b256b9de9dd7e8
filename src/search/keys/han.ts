/** Names in Chinese characters, by Hanyu pinyin (ISO 7098), with the family name first or last. */
import anyAscii from "any-ascii";
import { readPairs } from "./alphabets.ts";

/** Family names of two characters. */
const LONG_FAMILY =
  /^(?:欧阳|歐陽|司马|司馬|上官|诸葛|諸葛|夏侯|东方|東方|皇甫|尉迟|尉遲|公孙|公孫|慕容|令狐|宇文|长孙|司徒|司空|端木|南宫|独孤)/;
const NAME = /^\p{Script=Han}{2,4}$/u;

/** Family names that are read or spelled in another way than their characters. */
const families = readPairs(`曾 zeng 单 shan 解 xie 仇 qiu 任 ren 朴 piao 查 zha 盖 ge 区 ou 翟 zhai
  覃 qin 尉 wei 尉迟 yuchi 尉遲 yuchi 吕 lu,lv 呂 lu,lv`);

/** Returns the Latin spellings of a text. */
export function spellChinese(text: string): string[] {
  if (!NAME.test(text)) return [spellHan(text)];
  const [long = ""] = LONG_FAMILY.exec(text) ?? [];
  const family = long || [...text][0] || "";
  const given = spellHan(text.slice(family.length));
  const spellings = families.get(family)?.split(",") ?? [spellHan(family)];
  return spellings.flatMap((spelling) => [`${spelling} ${given}`, `${given} ${spelling}`]);
}

const spellHan = (text: string) =>
  text.replace(/\p{Script=Han}/gu, (character) => anyAscii(character).toLowerCase());
