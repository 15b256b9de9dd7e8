/** Tests that names are found as people type them, which is tier 6 of src/search/README.md. */
import { describe, expect, test } from "bun:test";
import { NameChanges } from "../../src/search/name-index.ts";
import { openNames } from "./similar-names.ts";

/** Each name, and queries of which each must find it. */
const names: Record<string, string[]> = {
  Trucker_Joe: ["truckerjoe", "trucker joe", "Trucker-Joe"],
  "J.R. Smith": ["jr smith", "jrsmith", "j r smith"],
  "O'Neill": ["o neill", "oneill", "o-neill"],
  "Юлия Щербакова": ["iuliia shcherbakova", "yulia scherbakova", "julija scerbakova", "yuliashch"],
  "Дмитрий Ёлкин": ["dmitrii elkin", "dmitriy yolkin", "dmitry elkin", "yolkin"],
  "Григорій Шевченко": ["hryhorii", "grigorij", "sevcenko"],
  "Йосип Гриценко": ["yosyp hrytsenko", "iosyp", "gritsenko"],
  "Гълъбов Щерю": ["galabov", "shteryu"],
  "Ђорђе Живковић": ["djordje zivkovic", "zhivkovich", "dorde"],
  "Ѓорѓи Ќулавков": ["gjorgji", "kjulavkov", "djordji culavkov"],
  "Сергей Жуков": ["sergej zukov", "sergej", "sergeizhukov"],
  "Алексей Хрущёв": ["alexey khrushchev", "aleksei khrushchyov", "aleksej hruscev"],
  "Аляксандр Лукашэнка": ["aliaksandr lukashenka", "aljaksandr lukašenka"],
  "Уладзімір Караткевіч": ["uladzimir karatkevich", "karatkievič"],
  "Марија Џорџевић": ["marija dzhordzhevich", "marija džordžević"],
  "Аляксандр Гарбуз": ["aliaksandr harbuz", "aljaksandr"],
  "Γιώργος Παπαδόπουλος": ["giorgos", "yiorgos", "papadopoulos"],
  "Χρήστος Ευθυμίου": ["christos", "hristos", "efthymiou", "xrhstos"],
  "Βασίλης Παύλου": ["vasilis pavlou", "basilhs paylou", "vasilhs"],
  "Ελευθέριος Ντάλαρας": ["eleftherios", "dalaras", "ntalaras"],
  "Հովհաննես Ոսկանյան": ["hovhannes", "voskanyan", "voskanian"],
  "ჯანელიძე ყიფიანი": ["janelidze", "qipiani", "kipiani"],
  ジョージ: ["joji", "jouji"],
  "おおの しょうた": ["ohno", "oono", "ono shota", "shouta"],
  "Ləman Əliyev": ["laman aliyev", "lamanaliyev", "leman eliyev"],
  "Nguyễn Thị Minh": ["nguyen thi minh", "nguyenthiminh"],
  "Søren Åkesson": ["soeren aakesson", "soren akesson", "sorenakesson"],
  류현진: ["ryu hyeonjin", "ryuhy", "yoo hyeonjin"],
  박지성: ["park jiseong", "bak jiseong", "parkjiseong"],
  백하진: ["baek", "baek h", "baekhajin", "paik hajin"],
  "이 민준": ["lee minjun", "yi minjun", "i minjun"],
  독립문: ["dongnimmun"],
  王小明: ["wangxiaoming", "wang xiaoming", "xiaoming wang", "xiaoming"],
  吕秀兰: ["lu xiulan", "lvxiulan", "xiulan lu"],
  "Yulia Ivanova": ["Юлия", "Юлія", "Юлиа Иванова"],
  Zhivkovich: ["Живкович"],
  Zivkovic: ["Живковић"],
  Efthymios: ["Ευθύμιος"],
  "Oleksii Hryhorenko": ["Олексій", "Григоренко", "Олексій Григоренко"],
  "Dzordz Petrovski": ["Џорџ", "Петровски"],
};

describe("a search finds", () => {
  const all = Object.keys(names);
  const { find } = openNames(all);

  test.each(Object.entries(names))("%s as people type it", (name, queries) => {
    const missed = queries.filter((query) => !find(query).includes(all.indexOf(name) + 1));
    expect(missed).toEqual([]);
  });
});

describe("a loose match", () => {
  test("comes after all others", () => {
    const people = ["Hryhor Loose", "Григорій", "xhryhorii", "Hryhorii"];
    const { find } = openNames(people);
    expect(find("hryhorii").map((id) => people[id - 1])).toEqual([
      "Hryhorii",
      "xhryhorii",
      "Григорій",
    ]);
  });

  test("begins at the start of a word, and has at least three letters", () => {
    const { find } = openNames(["Mad_Max", "Гліб"]);
    expect(
      [find("dmax"), find("m-a"), find("hlib"), find("lib")].map(({ length }) => length),
    ).toEqual([0, 0, 1, 1]);
  });

  test("ends when a name is changed or removed", () => {
    const { client, find } = openNames(["Григорій", "Йосип"]);
    const changes = new NameChanges(client);
    changes.note("user", 1);
    changes.note("user", 2);
    client.exec(
      "UPDATE user SET name = 'Ben', folded = 'ben' WHERE id = 1; DELETE FROM user WHERE id = 2",
    );
    changes.finish();
    expect([find("hryhorii"), find("yosyp"), find("ben")]).toEqual([[], [], [1]]);
  });
});
