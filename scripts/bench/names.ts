/**
 * Measures how many names are found as people type them: names of @faker-js/faker, spelled by packages
 * and by official tables. A name is found if it matches; its place among the results does not count.
 * For "five letters", only the first five letters are typed.
 */
import { allLocales } from "@faker-js/faker";
import aromanize from "aromanize";
import { distance } from "fastest-levenshtein";
import greek from "greek-utils";
import hepburn from "hepburn";
import * as iuliia from "iuliia";
import { pinyin } from "pinyin-pro";
import { Random } from "../../src/domain/random.ts";
import { fold, normalizeQuery, spell, spellQuery } from "../../src/search/fold.ts";
import { keysOfName } from "../../src/search/keys/keys.ts";
import { type LooseQuery, matchesLoosely, spellLoosely } from "../../src/search/loose.ts";
import { compactOf, hasWords, requiredWordsOf, tierOf, wordsIn } from "../../src/search/tiers.ts";
import { format, type Options, tableOf } from "./measure.ts";
import { benchSlips } from "./slips.ts";

/** How many names of a kind are typed, and how many queries are compared with how many names. */
const NAMES = 400;
const QUERIES = 1000;
const COMPARED = 4000;
const WORST = 20;
const LETTERS = 5;

type Typed = [stored: string, typed: string];

export async function benchNames(options: Options): Promise<void> {
  const { isQuick } = options;
  const rows: string[][] = [];
  const all: Typed[] = [];
  for (const [title, pairs] of Object.entries(listTyped(isQuick ? 20 : NAMES))) {
    all.push(...pairs);
    const firstLetters = pairs
      .map(([stored, typed]): Typed => [stored, [...typed].slice(0, LETTERS).join("")])
      .filter(([, typed]) => [...typed].length === LETTERS);
    rows.push([title, ...sharesOf(pairs), ...sharesOf(firstLetters)]);
  }
  const columns = [
    "whole, tiers 1 to 5:",
    "all tiers:",
    "five letters, tiers 1 to 5:",
    "all tiers:",
  ];
  console.log(tableOf(["found, %", ...columns], rows));
  compareAll(all, isQuick);
  await benchSlips(options);
}

/** Returns the percentages that are found in tiers 1 to 5, and in all tiers. */
function sharesOf(pairs: Typed[]): string[] {
  const found = pairs.map(([stored, typed]) => tierFor(stored, typed));
  return [5, 6].map((most) =>
    format((100 * found.filter((tier) => tier <= most).length) / pairs.length),
  );
}

/** Returns the tier in which a name matches what is typed, or Infinity. */
function tierFor(name: string, typed: string): number {
  const query = normalizeQuery(typed);
  const spellings = spellQuery(query);
  return tierOfPrepared(prepareName(name), spellings, spellLoosely(query, spellings));
}

interface PreparedName {
  name: string;
  folded: string;
  keys: string[];
}

const prepareName = (name: string): PreparedName => ({
  name,
  folded: spell(name),
  keys: keysOfName(name),
});

function tierOfPrepared(
  { name, folded, keys }: PreparedName,
  spellings: string[],
  loose: LooseQuery,
): number {
  const tiers = spellings.flatMap((spelling) => {
    const words = requiredWordsOf(spelling);
    return tierOf(folded, spelling) ?? (words.length > 0 && hasWords(folded, words) ? 5 : []);
  });
  if (tiers.length > 0) return Math.min(...tiers);
  // Names are compared with many queries, and keys take long to make.
  const hasKey = loose.keys.some((query) => keys.some((key) => key.startsWith(query)));
  return hasKey || matchesLoosely({ name, folded }, { ...loose, keys: [] }) ? 6 : Infinity;
}

/**
 * Prints how many more names all tiers find, and which of those that tier 6 finds are spelled most
 * differently from what is typed.
 */
function compareAll(typed: Typed[], isQuick: boolean): void {
  const random = new Random(1);
  const pick = () => random.pick(typed);
  const others = Array.from({ length: isQuick ? 50 : COMPARED }, pick).map(
    ([name, spelling]) => [prepareName(name), spelling] as const,
  );
  const counts = { before: 0, loosely: 0 };
  const meetings = new Map<string, number>();
  for (let count = isQuick ? 20 : QUERIES; count > 0; count--) {
    const [own, whole] = pick();
    const query = count % 2 === 0 ? whole : [...whole].slice(0, LETTERS).join("");
    const spellings = spellQuery(normalizeQuery(query));
    const loose = spellLoosely(query, spellings);
    for (const [name, spelling] of others) {
      const tier = tierOfPrepared(name, spellings, loose);
      if (tier <= 5) counts.before++;
      if (tier !== 6) continue;
      counts.loosely++;
      if (name.name === own) continue;
      meetings.set(`${query} finds ${name.name} (${spelling})`, differenceOf(query, spelling));
    }
  }
  const ratio = format(1 + counts.loosely / counts.before);
  console.log(`\nNames found, all tiers ÷ tiers 1 to 5: ${ratio}`);
  const worst = [...meetings].sort(([, a], [, b]) => b - a).slice(0, WORST);
  console.log(worst.map(([meeting]) => meeting).join("\n"));
}

/** Returns the share of letters in which a query differs from a spelling from one of its words on. */
function differenceOf(query: string, spelling: string): number {
  const typed = compactOf(fold(query));
  const words = wordsIn(fold(spelling));
  const isSameScript = /[a-z]/.test(typed) === /[a-z]/.test(spelling.toLowerCase());
  if (!isSameScript) return 0;
  const differences = words.map((_, at) =>
    distance(typed, words.slice(at).join("").slice(0, typed.length)),
  );
  return Math.min(...differences) / typed.length;
}

function listTyped(count: number): Record<string, Typed[]> {
  const typed: Record<string, Typed[]> = {};
  const add = (title: string, names: string[], type: (name: string) => string) => {
    typed[title] = names.map((name) => [name, type(name)]);
  };
  const ru = people("ru", count);
  const uk = people("uk", count);
  const mk = people("mk", count);
  const el = people("el", count);
  const schemes = iuliia as unknown as Record<string, iuliia.Schema>;
  const by = (scheme: string) => (name: string) =>
    iuliia.translate(name, schemes[scheme] as iuliia.Schema);

  for (const scheme of RUSSIAN) add(`Russian: ${scheme}`, ru, by(scheme));
  add("Ukrainian: KMU 55", uk, spellUkrainian);
  add("Ukrainian: as in Russian", uk, (name) => by("WIKIPEDIA")(replace(name, "і и ї и є е ґ г")));
  add("Bulgarian law", bulgarian, replaceBy(BULGARIAN));
  add("Belarusian: passport", belarusian, spellBelarusian);
  add("Belarusian: geographic names", belarusian, replaceBy(BELARUSIAN));
  add("Macedonian: passport", mk, replaceBy(MACEDONIAN));
  add("Macedonian: as in Serbian", mk, replaceBy(SERBIAN));
  typed["Serbian Latin"] = people("sr_RS_latin", count).map((name) => [toSerbian(name), name]);
  add("Greek: ELOT 743", el, spellGreek);
  add("Greek: as people write", el, greek.toGreeklish);
  add("Greek: by ear", el, (name) => greek.toPhoneticLatin(name));
  add("Armenian", people("hy", count), replaceBy(ARMENIAN));
  add("Georgian", people("ka_GE", count), replaceBy(GEORGIAN));
  for (const [title, type] of Object.entries(longVowels)) {
    add(`hiragana, ${title}`, hiragana, (name) => type(hepburn.fromKana(name).toLowerCase()));
  }
  add("katakana", katakana, (name) => hepburn.fromKana(name).toLowerCase());
  const addParts = (
    title: string,
    parts: [family: string, given: string][],
    type: (family: string, given: string) => string,
  ) => {
    typed[title] = parts.map(([family, given]) => [family + given, type(family, given)]);
  };
  const ko = partsOf("ko", count);
  const famous = ko.filter(([family]) => owners[family]);
  addParts("Korean: Revised Romanisation", ko, (family, given) => spellKorean(family + given));
  addParts("Korean: family and given name", ko, (family, given) => {
    return `${spellKorean(family)} ${spellKorean(given)}`;
  });
  addParts("Korean: family names as their owners do", famous, (family, given) => {
    return `${owners[family]} ${spellKorean(given)}`;
  });
  const zh = partsOf("zh_CN", count);
  const familyOf = (text: string) =>
    pinyin(text, { ...PINYIN, surname: "all" }).replaceAll(" ", "");
  const givenOf = (text: string) => pinyin(text, PINYIN).replaceAll(" ", "");
  addParts("Chinese: without a space", zh, (family, given) => familyOf(family) + givenOf(given));
  addParts("Chinese: with a space", zh, (family, given) => `${familyOf(family)} ${givenOf(given)}`);
  addParts("Chinese: family name last", zh, (family, given) => {
    return `${givenOf(given)} ${familyOf(family)}`;
  });
  for (const locale of ["az", "vi", "tr", "da", "nb_NO", "sv", "fi", "pl"] as const) {
    add(`Latin: ${locale}`, people(locale, count), (name) =>
      replace(name, PLAIN).normalize("NFD").replace(/\p{M}/gu, ""),
    );
  }
  typed["stored in Latin, typed in Cyrillic"] = ru.flatMap((name) =>
    ["ICAO_DOC_9303", "WIKIPEDIA", "BGN_PCGN"].map((scheme): Typed => [by(scheme)(name), name]),
  );
  typed["stored in Latin, typed in Ukrainian"] = uk.map((name) => [spellUkrainian(name), name]);
  typed["stored in Latin, typed in Serbian"] = people("sr_RS_latin", count).map((name) => [
    name,
    toSerbian(name),
  ]);
  typed["stored in Latin, typed in Greek"] = el.map((name) => [spellGreek(name), name]);
  typed["dividers left out"] = people("en", count).map((name) => [
    name.replace(" ", "_"),
    name.replace(" ", ""),
  ]);
  typed["other dividers"] = people("fr", count).map((name) => [
    name.replace(" ", "."),
    name.replace(" ", "-"),
  ]);
  typed["dividers added"] = people("de", count).map((name) => [name.replace(" ", ""), name]);
  return Object.fromEntries(Object.entries(typed).filter(([, pairs]) => pairs.length > 0));
}

const RUSSIAN = [
  "ICAO_DOC_9303",
  "WIKIPEDIA",
  "YANDEX_MAPS",
  "BGN_PCGN",
  "MOSMETRO",
  "MVD_782",
  "GOST_52535",
  "TELEGRAM",
];

/** The Revised Romanisation has no eu in 희, and the package does. */
const spellKorean = (text: string) => aromanize.romanize(text).replaceAll("heui", "hui");

const PINYIN = { toneType: "none", v: true } as const;

/** Returns full names of a locale. */
function people(locale: keyof typeof allLocales, count: number): string[] {
  return partsOf(locale, count).map(([family, given]) => `${given} ${family}`);
}

function partsOf(locale: keyof typeof allLocales, count: number): [string, string][] {
  const { person } = allLocales[locale];
  const first = namesIn(person?.first_name);
  const last = namesIn(person?.last_name);
  if (first.length === 0 || last.length === 0) return [];
  const random = new Random(2);
  return Array.from({ length: count }, () => [random.pick(last), random.pick(first)]);
}

function namesIn(lists: unknown): string[] {
  if (Array.isArray(lists)) return lists;
  return Object.values((lists ?? {}) as Record<string, string[] | undefined>).flatMap(
    (list) => list ?? [],
  );
}

/** Replaces letters, given as pairs, and keeps a capital. */
function replace(text: string, pairs: string): string {
  const words = pairs.trim().split(/\s+/);
  const spellings = new Map<string, string>();
  for (let at = 0; at < words.length; at += 2) spellings.set(words[at] ?? "", words[at + 1] ?? "");
  const letters = [...spellings.keys()].sort((a, b) => b.length - a.length).join("|");
  return text
    .toLowerCase()
    .replace(new RegExp(letters, "g"), (letter) => (spellings.get(letter) ?? "").replace("-", ""));
}

const replaceBy = (pairs: string) => (name: string) => replace(name, pairs);

function spellUkrainian(name: string): string {
  const initial = replace(
    name
      .toLowerCase()
      .replace(
        /(^|[ -])([юяєї])/g,
        (_, before, letter) =>
          before + ({ ю: "yu", я: "ya", є: "ye", ї: "yi" }[letter as "ю"] ?? ""),
      )
      .replace(/(^|[ -])й/g, "$1y"),
    KMU,
  );
  return initial;
}

const spellBelarusian = (name: string) => replace(name, BELARUSIAN + BELARUSIAN_PASSPORT);

/** Cabinet of Ministers of Ukraine, resolution 55 of 2010. */
const KMU = `зг zgh а a б b в v г h ґ g д d е e є ie ж zh з z и y і i ї i й i к k л l м m н n о o п p р r с s т t у u
  ф f х kh ц ts ч ch ш sh щ shch ь - ю iu я ia ’ - ' -`;
/** Law of 2009; the ending ия is ia. */
const BULGARIAN = `ия ia а a б b в v г g д d е e ж zh з z и i й y к k л l м m н n о o п p р r с s т t у u ф f х h ц ts ч ch
  ш sh щ sht ъ a ь y ю yu я ya`;
/** Instruction of the State Committee on Land Resources of 2007. */
const BELARUSIAN = `а a б b в v г h д d е ie ё io ж ž з z і i й j к k л l м m н n о o п p р r с s т t у u ў ŭ ф f х ch
  ц c ч č ш š ы y ь - э e ю iu я ia ’ - ' -`;
/** ICAO Doc 9303, with г as h, as passports have it. */
const BELARUSIAN_PASSPORT = `ж zh й i ў u х kh ц ts ч ch ш sh ё io е e ю iu я ia`;
const MACEDONIAN = `а a б b в v г g д d ѓ gj е e ж zh з z ѕ dz и i ј j к k л l љ lj м m н n њ nj о o п p р r с s т t ќ kj
  у u ф f х h ц c ч ch џ dj ш sh`;
const SERBIAN = `а a б b в v г g д d ђ đ е e ж ž з z и i ј j к k л l љ lj м m н n њ nj о o п p р r с s т t ћ ć у u ф f х h
  ц c ч č џ dž ш š ѓ đ ќ ć ѕ dz`;
/** BGN/PCGN 1981, without apostrophes, as passports have it. */
const ARMENIAN = `ու u և ev եւ ev ա a բ b գ g դ d ե e զ z է e ը y թ t ժ zh ի i լ l խ kh ծ ts կ k հ h ձ dz ղ gh ճ ch մ m յ y
  ն n շ sh ո o չ ch պ p ջ j ռ r ս s վ v տ t ր r ց ts ւ v փ p ք k օ o ֆ f`;
const GEORGIAN = `ა a ბ b გ g დ d ე e ვ v ზ z თ t ი i კ k ლ l მ m ნ n ო o პ p ჟ zh რ r ს s ტ t უ u ფ p ქ k ღ gh ყ q შ sh ჩ ch
  ც ts ძ dz წ ts ჭ ch ხ kh ჯ j ჰ h`;
/** As ICAO Doc 9303 has it. */
const PLAIN = "ə a ı i ø oe æ ae å aa ł l đ d ß ss";
const SERBIAN_LETTERS = `lj љ nj њ dž џ a а b б v в g г d д đ ђ e е ž ж z з i и j ј k к l л m м n н o о p п r р s с t т ć ћ u у
  f ф h х c ц č ч š ш`;

const toSerbian = (name: string) => replace(name, SERBIAN_LETTERS);

/** ELOT 743, type 2. */
function spellGreek(name: string): string {
  const bare = name
    .toLowerCase()
    .normalize("NFD")
    .replace(/[\u0301\u0345]/g, "");
  const vowels = bare
    .replace(/([αεη])υ(?!\u0308)(?=[βγδζλμνραεηιουω])/g, "$1v")
    .replace(/([αεη])υ(?!\u0308)/g, "$1f")
    .replace(/\u0308/g, "")
    .replace(/(^| )μπ/g, "$1b");
  return replace(
    vowels,
    `ου ou γγ ng γξ nx γχ nch α a β v γ g δ d ε e ζ z η i θ th ι i κ k λ l μ m ν n ξ x ο o π p ρ r
    σ s ς s τ t υ y φ f χ ch ψ ps ω o`,
  );
}

const longVowels: Record<string, (typed: string) => string> = {
  ou: (typed) => typed,
  oo: (typed) => typed.replaceAll("ou", "oo"),
  o: (typed) => typed.replace(/o[uo]/g, "o"),
  oh: (typed) => typed.replace(/o[uo]/g, "oh"),
};

/** How most people with a family name spell it. */
const owners: Record<string, string> = {
  김: "kim",
  이: "lee",
  박: "park",
  최: "choi",
  정: "jung",
  강: "kang",
  조: "cho",
  윤: "yoon",
  임: "lim",
  오: "oh",
  서: "suh",
  신: "shin",
  권: "kwon",
  안: "ahn",
  유: "yoo",
  고: "ko",
  문: "moon",
  손: "sohn",
  배: "bae",
  백: "baek",
};

/** Names of people, from public lists of officials and athletes. */
const bulgarian =
  `Георги Гълъбов,Иван Щерев,Мария Димитрова,Стоян Стоянов,Цветан Цветанов,Христо Стоичков,Димитър Бербатов,
Йордан Лечков,Красимир Балъков,Бойко Борисов,Ангел Вълчев,Пламен Орешарски,Юлия Щонова,Жельо Желев,Хюсеин Чаушев,Кънчо Пъдев,
Светослав Тодоров,Емил Костадинов,Любослав Пенев,Златко Янков,Петър Хубчев,Трифон Иванов,Борислав Михайлов,Елена Йончева,
Мая Манолова,Лютви Местан,Меглена Кунева,Кристалина Георгиева,Николай Младенов,Румен Радев,Илияна Йотова,Щерю Щерев,Въло Вълев,
Калоян Яворов,Асен Златаров,Яна Язова,Пейо Яворов,Гео Милев,Атанас Далчев,Ивайло Петров`
    .replaceAll("\n", "")
    .split(",");
const belarusian =
  `Аляксандр Лукашэнка,Святлана Ціханоўская,Васіль Быкаў,Якуб Колас,Янка Купала,Уладзімір Караткевіч,Вольга Хіжынкова,Зміцер Хведарук,
Алена Каваленка,Сяргей Гарбуз,Мікалай Галаўко,Ганна Шчарбакова,Юлія Несцярэнка,Дар’я Домрачава,Максім Мірны,Вікторыя Азаранка,
Алесь Бяляцкі,Ірына Халіп,Паўлюк Трус,Кастусь Каліноўскі,Францыск Скарына,Еўфрасіння Полацкая,Рыгор Барадулін,Ніл Гілевіч,
Пятро Глебка,Ларыса Геніюш,Максім Багдановіч,Алаіза Пашкевіч,Цётка Язэп,Іван Шамякін,Андрэй Макаёнак,Кузьма Чорны,Ягор Жук,Ўладзя Ёлкін,
Надзея Астапчук,Юрый Жаўноў,Глеб Гурыновіч,Аўгінея Піліпчык,Хрысціна Цімановіч,Змітрок Бядуля`
    .replaceAll("\n", "")
    .split(",");
const hiragana =
  `さとう,すずき,たかはし,たなか,いとう,わたなべ,やまもと,なかむら,こばやし,かとう,よしだ,やまだ,ささき,やまぐち,まつもと,いのうえ,
きむら,はやし,しみず,さいとう,ごとう,えんどう,おおの,おおた,おおつか,こうの,じんぼ,しょうた,りょうた,ゆうき,じゅんいち,きょうこ,ちひろ,つばさ,ふみお,
しゅんすけ,けんじ,いっぺい,はっとり,べっぷ,おおにし,こんどう,あんどう,むとう,しんいち,ようこ,りゅうじ,みちこ,じろう,ひょうどう,かんべ,ほんま,なんば,ぐんじ`
    .replaceAll("\n", "")
    .split(",");
const katakana =
  `マイケル,アンナ,ピーター,マリア,ケビン,サラ,トム,ルーカス,エマ,ハンス,ポール,クリス,アレックス,ニコラ,ロベルト,カルロス,オリビア,
ノア,レオ,マックス,ルイ,シャルル,チャーリー,シェリー,キャロル,リョウ,ユウキ,ショウタ,ジュン,ケンジ,ヒロシ,タロウ,ハナコ,サクラ`
    .replaceAll("\n", "")
    .split(",");
