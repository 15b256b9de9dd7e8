/**
 * Names in Hangul, by the Revised Romanisation of 2000 with its changes of sounds between syllables.
 * Family names are also spelled as their owners do.
 */
import { readPairs } from "./alphabets.ts";

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

/** Family names, and how they are mostly spelled besides the Revised Romanisation. */
const families =
  readPairs(`김 kim 이 lee,yi,rhee 박 park,pak 최 choi 정 jung,chung 강 kang 조 cho 윤 yoon 장 chang
  임 lim,rim 오 oh 서 suh 신 shin 권 kwon 황 whang 안 ahn 송 soong 류 yoo,ryoo 유 yoo,you 홍 hung
  전 jun,chun 고 ko,koh 문 moon 손 sohn 배 pae 백 paik,back 허 hur,huh 남 nahm 심 shim 노 roh,no
  곽 kwak 성 sung 차 tcha 주 joo,choo 우 woo 구 koo,ku 나 ra,rah 민 minn 진 chin 지 chi,jee
  엄 um,uhm 채 chae 원 weon 천 chun 방 bang,pang 공 kong 변 byun,pyun 여 yuh 염 yum,youm 석 suk
  선 sun 설 sul 길 kil 연 yun 표 pyo 명 myung 기 ki 국 kook 도 doh 소 soh 피 pee 현 hyun 함 hahm
  추 choo 탁 tak 편 pyun 제 je 금 keum 경 kyung`);

const SYLLABLES = /[가-힣]+/g;

/** Returns the Latin spellings of a text. */
export function spellKorean(text: string): string[] {
  const whole = text.replace(SYLLABLES, (syllables) => romanize(syllables, changes));
  const [, family = "", given = ""] = NAME.exec(text) ?? [];
  if (given === "") return [whole];
  // In names of people, the sounds of syllables are not changed.
  const rest = romanize(given.trim(), []);
  const owners = families.get(family)?.split(",") ?? [];
  return [whole, ...[romanize(family, []), ...owners].map((name) => `${name} ${rest}`)];
}

const NAME = /^([가-힣])([가-힣]{1,2}|\s+[가-힣]{1,3})$/;

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
