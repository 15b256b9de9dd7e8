/** Names in kana, Han and Hangul, of which each character is a syllable or more. */
import anyAscii from "any-ascii";
import { readPairs } from "./alphabets.ts";

const KANA = /[\u3041-\u3096\u30a1-\u30fa]/g;
const SMALL = "ぁぃぅぇぉゃゅょゎァィゥェォャュョヮ";

/** Marks small kana, which change the kana before them. */
const spellKana = (kana: string) => (SMALL.includes(kana) ? "~" : "") + anyAscii(kana);

/** Returns the Latin spellings of a text in kana, by the Hepburn romanisation of Japanese passports. */
export function spellJapanese(text: string): string[] {
  const spelling = text
    // A doubled consonant and a long vowel are single in a key.
    .replace(/[っッー]/g, "")
    .replace(KANA, spellKana)
    .replace(/(sh|ch|j)i~y/g, "$1")
    .replace(/i~y/g, "y")
    .replace(/(sh|ch|j)i~(?=[aueo])/g, "$1")
    .replace(/[aiueo]~(?=[aiueo])/g, "")
    .replaceAll("~", "");
  return [spelling];
}

/** Chinese family names of two characters. */
const LONG_FAMILY =
  /^(?:欧阳|歐陽|司马|司馬|上官|诸葛|諸葛|夏侯|东方|東方|皇甫|尉迟|尉遲|公孙|公孫|慕容|令狐|宇文|长孙|司徒|司空|端木|南宫|独孤)/;
const CHINESE_NAME = /^\p{Script=Han}{2,4}$/u;

/** Family names that are read or spelled in another way than their characters. */
const chineseFamilies =
  readPairs(`曾 zeng 单 shan 解 xie 仇 qiu 任 ren 朴 piao 查 zha 盖 ge 区 ou 翟 zhai
  覃 qin 尉 wei 尉迟 yuchi 尉遲 yuchi 吕 lu,lv 呂 lu,lv`);

/** Returns the Latin spellings of a text in Han, by Hanyu pinyin (ISO 7098), with the family name first or last. */
export function spellChinese(text: string): string[] {
  if (!CHINESE_NAME.test(text)) return [spellHan(text)];
  const [long = ""] = LONG_FAMILY.exec(text) ?? [];
  const family = long || [...text][0] || "";
  const given = spellHan(text.slice(family.length));
  const spellings = chineseFamilies.get(family)?.split(",") ?? [spellHan(family)];
  return spellings.flatMap((spelling) => [`${spelling} ${given}`, `${given} ${spelling}`]);
}

const spellHan = (text: string) =>
  text.replace(/\p{Script=Han}/gu, (character) => anyAscii(character).toLowerCase());

const initials = "g kk n d tt r m b pp s ss - j jj ch k t p h".split(" ");
const vowels = "a ae ya yae eo e yeo ye o wa wae oe yo u wo we wi yu eu ui i".split(" ");
/** A final consonant at the end or before a consonant. */
const finals = "- k k k n n n t l k m l l l p l m p p t t ng t t k t p t".split(" ");
/** The same before a vowel, where it is spoken as an initial. */
const linked = "- g kk gs n nj n d r lg lm lb ls lt lp r m b bs s ss ng j ch k t p -".split(" ");
/** How a final consonant and the initial after it change each other. */
const changes: [RegExp, string][] = [
  [/k\+(?=[nm])/g, "ng"],
  [/t\+(?=[nm])/g, "n"],
  [/p\+(?=[nm])/g, "m"],
  [/k\+r/g, "ngn"],
  [/t\+r/g, "nn"],
  [/p\+r/g, "mn"],
  [/(m|ng)\+r/g, "$1n"],
  [/[nl]\+r|l\+n/g, "ll"],
];

/** Korean family names, and how they are mostly spelled besides the Revised Romanisation. */
const koreanFamilies =
  readPairs(`김 kim 이 lee,yi,rhee 박 park,pak 최 choi 정 jung,chung 강 kang 조 cho 윤 yoon 장 chang
  임 lim,rim 오 oh 서 suh 신 shin 권 kwon 황 whang 안 ahn 송 soong 류 yoo,ryoo 유 yoo,you 홍 hung
  전 jun,chun 고 ko,koh 문 moon 손 sohn 배 pae 백 paik,back 허 hur,huh 남 nahm 심 shim 노 roh,no
  곽 kwak 성 sung 차 tcha 주 joo,choo 우 woo 구 koo,ku 나 ra,rah 민 minn 진 chin 지 chi,jee
  엄 um,uhm 채 chae 원 weon 천 chun 방 bang,pang 공 kong 변 byun,pyun 여 yuh 염 yum,youm 석 suk
  선 sun 설 sul 길 kil 연 yun 표 pyo 명 myung 기 ki 국 kook 도 doh 소 soh 피 pee 현 hyun 함 hahm
  추 choo 탁 tak 편 pyun 제 je 금 keum 경 kyung`);

const SYLLABLES = /[가-힣]+/g;

/**
 * Returns the Latin spellings of a text in Hangul, by the Revised Romanisation of 2000 with its changes of
 * sounds between syllables. Family names are also spelled as their owners do.
 */
export function spellKorean(text: string): string[] {
  const whole = text.replace(SYLLABLES, (syllables) => romanize(syllables, changes));
  const [, family = "", given = ""] = KOREAN_NAME.exec(text) ?? [];
  if (given === "") return [whole];
  // In names of people, the sounds of syllables are not changed.
  const rest = romanize(given.trim(), []);
  const owners = koreanFamilies.get(family)?.split(",") ?? [];
  return [whole, ...[romanize(family, []), ...owners].map((name) => `${name} ${rest}`)];
}

const KOREAN_NAME = /^([가-힣])([가-힣]{1,2}|\s+[가-힣]{1,3})$/;

function romanize(syllables: string, soundChanges: typeof changes): string {
  const codes = Array.from(syllables, (syllable) => syllable.charCodeAt(0) - 0xac00);
  const text = codes.map((code, at) => {
    const initial = initials[Math.floor(code / 588)] ?? "";
    const vowel = vowels[Math.floor(code / 28) % 21] ?? "";
    const next = codes[at + 1];
    const isLinked = next !== undefined && Math.floor(next / 588) === SILENT;
    const final = (isLinked ? linked : finals)[code % 28] ?? "";
    const end = isLinked || next === undefined ? final : `${final}+`;
    return (initial + vowel + end).replaceAll("-", "");
  });
  const changed = soundChanges.reduce(
    (spelling, [sounds, replacement]) => spelling.replace(sounds, replacement),
    text.join(""),
  );
  return changed.replaceAll("+", "");
}

/** The place of ㅇ among the initials, which is not spoken there. */
const SILENT = 11;
