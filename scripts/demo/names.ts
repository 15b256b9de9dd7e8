/**
 * What demo drivers are called: where they come from, their first names (common ones first, drawn
 * more often) and their handles. Surnames are Faker's, save where its lists do not sound real.
 */
import type { allLocales } from "@faker-js/faker";

export type LocaleName = Extract<
  keyof typeof allLocales,
  | ("pl" | "de" | "de_AT" | "en_GB" | "en_US" | "fr" | "nl" | "es" | "pt_PT" | "pt_BR" | "it")
  | ("sv" | "nb_NO" | "da" | "fi" | "cs_CZ" | "sk" | "hu" | "ro" | "hr" | "sr_RS_latin" | "sl_SI")
  | ("lv" | "tr" | "ru" | "uk" | "mk" | "el" | "ja" | "zh_CN" | "ko" | "vi" | "ka_GE" | "th" | "ar")
>;

export interface Locale {
  /** Of all drivers, in relation to the other locales' shares. */
  share: number;
  /** Separated by spaces, like every list here. */
  men: string;
  women: string;
  surnames?: { men: string; women?: string };
  /** How family name F and given name G make a full name; "G F" unless told. */
  full?: string;
  /** Handles of this language, `{}` standing for the first name; used beside `latinHandles`. */
  handles?: string;
  /** Only its own handles, as the Latin ones would not suit the script. */
  ownScript?: true;
}

const english = {
  men: "Smith Jones Taylor Brown Williams Wilson Johnson Davies Miller Robinson Wright Thompson Evans Walker White Roberts Green Hall Wood Harris Martin Jackson Clarke Cooper Carter Baker Foster Parker Collins Reed Murphy Kelly Campbell Stewart Fletcher Marsh Barlow Whitaker Pritchard Ashworth MacLeod O'Connor Doyle Sutherland Holloway Bristow Tanner Cartwright Wheeler Mason",
};

export const locales: Record<LocaleName, Locale> = {
  pl: {
    share: 13,
    men: "Piotr Krzysztof Tomasz Paweł Marcin Michał Łukasz Marek Grzegorz Adam Kamil Mateusz Jakub Rafał Dariusz Zbigniew Wojciech Sławomir Bartosz Przemysław",
    women: "Anna Katarzyna Agnieszka Małgorzata Magda Ola Zuzanna Kinga",
    surnames: {
      men: "Nowak Kowalski Wiśniewski Wójcik Kowalczyk Kamiński Lewandowski Zieliński Szymański Woźniak Dąbrowski Kozłowski Jankowski Mazur Krawczyk Piotrowski Grabowski Pawłowski Michalski Król Wieczorek Jabłoński Wróbel Stępień Górski Rutkowski Sikora Ostrowski Baran Duda Szewczyk Pietrzak Marciniak Wróblewski Jaworski Gołąb Śliwa Żak Łuczak Świątek Ćwik Źródłowski",
      women:
        "Nowak Kowalska Wiśniewska Wójcik Kowalczyk Kamińska Lewandowska Zielińska Szymańska Woźniak Dąbrowska Kozłowska Mazur Krawczyk Piotrowska Grabowska Król Wieczorek Jabłońska Wróbel Stępień Górska Sikora Baran Duda Śliwa Żak",
    },
    handles:
      "Tirowiec_## PanKierowca TIR_{} Kawa_i_TIR SzybkiLopez ŻwirekPL Król_Szos BabaZaKółkiem",
  },
  de: {
    share: 12,
    men: "Thomas Michael Andreas Stefan Christian Markus Jürgen Uwe Lukas Jan Tobias Sven Florian Torsten Jörg Finn Kai Björn Günther Emre",
    women: "Sabine Anja Julia Katrin Lena Steffi Heike Änne",
    handles:
      "Brummi_{} KapitänDerLandstraße LKW_{} Dieselross## StauMeister Nachtfahrer## Kutscher_{} RastplatzRudi",
  },
  de_AT: {
    share: 2,
    men: "Franz Josef Andreas Wolfgang Manuel Stefan Markus Sepp Hannes Florian",
    women: "Maria Elisabeth Katharina Resi Vroni",
    handles: "Brummi_{} JausnPause KaiserschmarrnExpress",
  },
  en_GB: {
    share: 10,
    men: "Dave James John Paul Mark Steve Chris Andrew Lee Gary Craig Callum Ryan Ian Stuart Nigel Owen Rhys Angus Alfie Imran Sanjay",
    women: "Sarah Emma Claire Tracy Gemma Sian Fiona Priya",
    surnames: english,
    handles: "Yorkie_{} BigDaveNotThatDave TeaAndTorque M62Survivor LayByLarry ChipButtyChamp",
  },
  en_US: {
    share: 7,
    men: "Mike John Bill Jim Bobby Travis Cody Wade Earl Dale Randy Jesse Luis Marcus Tyler Hank Duane Ray",
    women: "Tina Debbie Crystal Jolene Rosa Becky Maggie",
    surnames: english,
    handles:
      "BigRig{} DieselDuke RouteSixtySix JakeBrakeJake Bandit## MudflapMaggie SmokeyWatcher TruckerTina",
  },
  fr: {
    share: 6,
    men: "Jean Philippe Nicolas Julien Laurent Thierry Sébastien Frédéric Kévin Mathieu Rémi François Loïc Hervé Karim Jean-Luc",
    women: "Nathalie Sandrine Céline Aurélie Élodie Manon Maëlle",
    handles: "Routes_de_{} GrosCube## PèreNoëlDuBitume Camion_Bleu TontonGasoil",
  },
  nl: {
    share: 5,
    men: "Jan Peter Henk Kees Johan Erik Bas Sander Daan Ruben Wouter Gert-Jan Mohammed Joris",
    women: "Anneke Sanne Marloes Femke Lotte",
    handles: "Trucker_{} Vrachtwagen{} StroopwafelKoerier FileKoning##",
  },
  es: {
    share: 5,
    men: "Antonio José Manuel Javier David Carlos Sergio Raúl Rubén Íñigo Óscar Pablo Álvaro Jordi Paco",
    women: "Carmen Laura Marta Lucía Begoña Nuria",
    surnames: {
      men: "García Fernández González Rodríguez López Martínez Sánchez Pérez Gómez Martín Jiménez Ruiz Hernández Díaz Moreno Muñoz Álvarez Romero Navarro Torres Vázquez Ramos Gil Serrano Blanco Molina Castro Ortega Rubio Núñez Iglesias Peña Ibáñez Etxeberria Puig Soler",
    },
    handles: "Camión_{} ElToroRojo RutaNocturna## CaféSolo",
  },
  pt_PT: {
    share: 2,
    men: "João José António Pedro Rui Nuno Luís Tiago Hugo Zé",
    women: "Ana Inês Conceição Catarina",
    handles: "Camionista_{} ReiDaEstrada##",
  },
  pt_BR: {
    share: 3,
    men: "José João Carlos Paulo Marcelo Rodrigo Anderson Thiago Leandro Fábio",
    women: "Juliana Patrícia Fernanda Aline",
    handles: "Caminhoneiro## {}_na_Estrada PédeChumbo",
  },
  it: {
    share: 5,
    men: "Marco Giuseppe Andrea Francesco Luca Alessandro Matteo Antonio Stefano Roberto Davide Salvatore Niccolò",
    women: "Giulia Francesca Chiara Paola Ilaria",
    handles: "Camionista_{} Bisonte## ReDellAutostrada EspressoTurbo",
  },
  sv: {
    share: 4,
    men: "Lars Anders Johan Björn Erik Magnus Göran Åke Håkan Jonas Kalle Sören Oskar",
    women: "Anna Åsa Karin Malin Linnéa",
    handles: "Åkar{} Långtradar_{} KnäckebrödKungen ÄlgVarning",
  },
  nb_NO: {
    share: 3,
    men: "Jan Bjørn Ole Lars Kjell Øyvind Håkon Terje Magnus Pål Sondre",
    women: "Ingrid Anne Kari Åse Silje",
    handles: "Trailer_{} BrunostBaronen FjellKongen",
  },
  da: {
    share: 3,
    men: "Jens Lars Søren Henrik Morten Jørgen Mads Rasmus Kåre Mikkel",
    women: "Mette Hanne Pernille Bodil",
    handles: "Lastbil{} LakridsLasten",
  },
  fi: {
    share: 3,
    men: "Jukka Pekka Timo Mikko Antti Jari Ville Heikki Väinö Janne Jyrki",
    women: "Tuula Päivi Sanna Minna",
    handles: "Rekka{} Yöajo## KorvapuustiKuski",
  },
  cs_CZ: {
    share: 5,
    men: "Jiří Jan Petr Pavel Jaroslav Martin Tomáš Miroslav Zdeněk Ondřej Lukáš Bořek",
    women: "Jana Hana Lenka Kateřina Žaneta",
    handles: "Kamioňák## Tirák_{} KnedlíkExpress",
  },
  sk: {
    share: 2,
    men: "Jozef Peter Ján Marek Ľuboš Miroslav Štefan Juraj",
    women: "Mária Zuzana Ľubica",
    handles: "Kamionista_{} BryndzaNaCestách",
  },
  hu: {
    share: 3,
    men: "László István József Zoltán Attila Gábor Tamás Béla Ádám Győző",
    women: "Éva Katalin Zsuzsa Ildikó",
    full: "F G",
    handles: "Kamionos_{} GulyásExpressz PaprikaPilóta",
  },
  ro: {
    share: 4,
    men: "Andrei Ion Alexandru Mihai Florin Ștefan Cristian Gheorghe Vasile Bogdan Răzvan",
    women: "Elena Maria Ioana Mădălina",
    handles: "Tir_{} ȘoferDeCursăLungă Vampirul##",
  },
  hr: {
    share: 2,
    men: "Ivan Marko Josip Željko Tomislav Ante Goran Krešimir",
    women: "Marija Ivana Željka",
    surnames: {
      men: "Horvat Kovačević Babić Marić Jurić Novak Kovačić Knežević Vuković Marković Petrović Matić Tomić Pavlović Božić Šarić Perić Župan Grgić Đurić",
    },
    handles: "Kamiondžija_{} BuraNaMostu",
  },
  sr_RS_latin: {
    share: 2,
    men: "Dragan Milan Zoran Nikola Miloš Dejan Nenad Đorđe Žika",
    women: "Jelena Milica Snežana",
    handles: "Šofer_{} ĆumurDizel",
  },
  sl_SI: {
    share: 1,
    men: "Franc Janez Marko Matej Boštjan Žiga Uroš",
    women: "Mojca Špela Urška",
  },
  lv: {
    share: 2,
    men: "Jānis Andris Juris Edgars Mārtiņš Māris Kārlis Raimonds",
    women: "Inese Līga Kristīne",
    handles: "Šoferis_{} DzintaraVilks",
  },
  tr: {
    share: 4,
    men: "Mehmet Mustafa Ahmet Ali Hüseyin Hasan İbrahim Murat Emre Oğuz Çağrı Gökhan",
    women: "Ayşe Fatma Elif Özlem",
    handles: "Kamyoncu_{} UzunYolcu## TırŞoförü34 ÇaySimit",
  },
  ru: {
    share: 6,
    men: "Александр Сергей Дмитрий Андрей Алексей Иван Максим Николай Владимир Фёдор Артём Юрий",
    women: "Елена Ольга Наталья Светлана Татьяна",
    handles:
      "Дальнобой_{} Рейс_{} Трасса_М5 КорольДорог Фура## Термос_и_карта Ёжик_на_трассе ТихийХод",
    ownScript: true,
  },
  uk: {
    share: 4,
    men: "Олександр Андрій Сергій Микола Василь Іван Тарас Юрій Богдан Ігор Євген Остап",
    women: "Оксана Наталія Ірина Олена Леся",
    handles: "Далекобій_{} Фура_{} ВареникНаКолесах Степовий_Вовк Їжак##",
    ownScript: true,
  },
  mk: {
    share: 0.7,
    men: "Александар Никола Горан Зоран Ѓорѓи Бранко",
    women: "Марија Елена Весна",
    ownScript: true,
  },
  el: {
    share: 3,
    men: "Γιώργος Γιάννης Κώστας Δημήτρης Νίκος Παναγιώτης Βασίλης Χρήστος Θανάσης Μιχάλης Σπύρος",
    women: "Μαρία Ελένη Κατερίνα Βασιλική Σοφία",
    surnames: {
      men: "Παπαδόπουλος Παπαδάκης Γεωργίου Οικονόμου Βλάχος Νικολαΐδης Αγγελόπουλος Καραγιάννης Δημητρίου Μακρής Αντωνίου Χατζής Παππάς Ιωάννου Κωνσταντινίδης Σταματόπουλος Μαυρίδης Ζαχαρίου Λαμπρόπουλος Καλογερόπουλος",
      women:
        "Παπαδοπούλου Παπαδάκη Γεωργίου Οικονόμου Βλάχου Νικολαΐδου Αγγελοπούλου Καραγιάννη Δημητρίου Μακρή Αντωνίου Παππά Ιωάννου Κωνσταντινίδου Μαυρίδου Ζαχαρίου Λαμπροπούλου",
    },
    handles: "Νταλικέρης## Νταλίκα_{} Φραπές_και_Δρόμος ΟΑργοναύτης {}_ΟΔΗΓΟΣ",
    ownScript: true,
  },
  ja: {
    share: 3.5,
    men: "健 誠 大輔 翔太 拓也 浩 隆 学 直樹 健太 亮 茂 和也 蓮",
    women: "恵子 由美子 陽子 さくら 美咲 葵",
    surnames: {
      men: "佐藤 鈴木 高橋 田中 伊藤 渡辺 山本 中村 小林 加藤 吉田 山田 佐々木 山口 松本 井上 木村 林 斎藤 清水 森 池田 橋本 石川 前田 藤田 岡田 後藤 長谷川 村上",
    },
    full: "F G",
    handles:
      "{}＠長距離 夜走り{} デコトラ{} 眠らない運転手 トラックねこ 荷物は友達 国道一号線 おにぎり便",
    ownScript: true,
  },
  zh_CN: {
    share: 2.5,
    men: "伟 强 磊 军 洋 勇 杰 涛 明 超 建国 志强 浩然 子轩",
    women: "芳 娜 秀英 敏 静 丽 雨桐",
    surnames: {
      men: "王 李 张 刘 陈 杨 黄 赵 吴 周 徐 孙 马 朱 胡 郭 何 林 高 罗 郑 梁 谢 宋 唐 许 韩 冯 邓 曹 欧阳",
    },
    full: "FG",
    handles: "卡车司机{} 夜行货车 老{}跑长途 一路平安## 大货车小梦想 公路之王",
    ownScript: true,
  },
  ko: {
    share: 1.8,
    men: "민준 서준 지훈 현우 동현 준호 성민 영수 상철",
    women: "지영 수진 은주 서연 미경",
    surnames: {
      men: "김 이 박 최 정 강 조 윤 장 임 한 오 서 신 권 황 안 송 류 홍",
    },
    full: "FG",
    handles: "트럭왕{} 밤길운전사 고속도로## 졸음쉼터 김밥과트럭",
    ownScript: true,
  },
  vi: {
    share: 0.6,
    men: "Minh Hùng Tuấn Dũng Quang Đức",
    women: "Lan Hương Thảo",
    full: "F G",
  },
  ka_GE: {
    share: 0.5,
    men: "გიორგი დავით ლევან ზურაბ ნიკა",
    women: "ნინო თამარ მარიამ",
    ownScript: true,
  },
  th: {
    share: 0.5,
    men: "สมชาย สมศักดิ์ วิชัย ธนกร ณัฐวุฒิ",
    women: "สมหญิง พรทิพย์ สุดารัตน์",
    surnames: { men: "ศรีสุข ทองดี บุญมี สุขสวัสดิ์ วงศ์ใหญ่ รักไทย" },
    ownScript: true,
  },
  ar: {
    share: 0.6,
    men: "محمد أحمد علي يوسف خالد عمر حسن",
    women: "فاطمة مريم ليلى",
    surnames: { men: "حداد خوري المصري العلي النجار منصور السيد الحسن صالح بركات" },
    ownScript: true,
  },
};

/** As above, `##` standing for two digits. Without either, a handle has a single taker. */
export const latinHandles =
  "Trucker{} Trucker{} {}OnTour {}## {}## {}_## {}_Trucker xX_{}_Xx Diesel{} {}TheHauler Mad{} Lazy{} Captain{} Cousin_{} Just{} TheReal{} not_{} {}.drives {}_on_18_wheels xX_Diesel_Xx RoadRunner## NightRider## AsphaltCowboy## Kingpin## TurboSnail Lay_By_Cafe GearGrinder LowBridge11ft8 SlowLaneSally Papa_Bear RubberSide_Down JackknifeJoe Reverse_Beeper ParkingBrake404 CtrlAltDiesel HTTP_418_Truck CargoCult LoadedAndLost NoHornOnlyBell GPS_Said_Left WrongExitAgain ToolboxTom Snackbar AirHornHarry TheQuietTrucker Wheelie_Nelson Optimus_Subprime Vin_Petrol Haul_Capone TruckNorris Lorry_Poppins ChewbacCargo Obi_Van_Kenobi MeatLoad DieselWashington LordOfTheRigs BreakerBreaker19 RustyBucket Squeaky_Seat Sir_Stallsalot TachoTaco MidnightMuffin Sleepy_Badger GrumpyMoose OneMoreKilometre CoffeePoweredV8 FlatTyreFred BlindSpotBob PalletJack PotholePete DetourDiva TailgateTess MissManifest HighVisHeidi CabinFever CruiseControlFreak Ferry_Godmother Axle_F Clutch_Norris VanGoghRoad TrailerSwift Gravel_Gertie HazardHannah MapUpsideDown TollboothTroll SpilledMyTea Mostly_Empty Overheight Wide_Load_Wendy Beige_Corolla ShinyHubcap DustyBoots LongHaulLou Unladen_Swallow";
