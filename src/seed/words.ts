/**
 * The words that seeded names are put together from. Lists are separated by spaces and compact on
 * purpose: a surname is a stem and an ending, so a few hundred words give some million names.
 */

export type Words = readonly [string, ...string[]];

export interface Language {
  /** Of all users, in relation to the other languages' shares. */
  share: number;
  first: Words;
  stems: Words;
  /** `_` in the lists below is no ending. */
  endings: Words;
  /** "G F" unless told: how given name G and family name F make a full name. */
  full: string;
  /** What companies are called after, and what they call themselves. */
  places: Words;
  trades: Words;
}

function language(
  share: number,
  first: string,
  stems: string,
  endings: string,
  places: string,
  trades: string,
  full = "G F",
): Language {
  return {
    share,
    first: words(first),
    stems: words(stems),
    endings: words(endings.replaceAll("_", "")),
    places: words(places),
    trades: words(trades),
    full,
  };
}

function words(text: string): Words {
  return text.split(" ") as unknown as Words;
}

export const languages: readonly [Language, ...Language[]] = [
  language(
    14,
    "Piotr Krzysztof Tomasz Paweł Marcin Michał Łukasz Marek Grzegorz Adam Kamil Mateusz Jakub Rafał Dariusz Zbigniew Wojciech Sławomir Anna Katarzyna Agnieszka Małgorzata Zuzanna Kinga",
    "Kowal Lewandow Wiśniew Kamiń Zieliń Szymań Dąbrow Kozłow Jankow Piotrow Grabow Pawłow Michal Jabłoń Wróblew Stępień Gór Rutkow Ostrow Baran Szewcz Malinow Pietrzyk Wieczor",
    "ski ski ski czyk ek owicz",
    "Baltic Kraków Śląsk Gdańsk Wisła Tatry Żubr Bursztyn Łódź Mazury Wielkopolska Roztocze",
    "Trans Spedycja Logistyka Express Cargo Transport Przewozy",
  ),
  language(
    13,
    "Thomas Michael Andreas Stefan Christian Markus Jürgen Uwe Lukas Jan Tobias Sven Florian Jörg Finn Kai Björn Günther Sabine Anja Julia Katrin Änne Heike",
    "Stein Berg Wald Neu Alt Schön Klein Groß Hof Mühl Linden Eich Buch Ober Nieder Bach Brunn Kirch Weiß Schwarz Lang Winter Sommer Rosen",
    "mann er feld bach hofer meier müller berger",
    "Nordlicht Hanse Ruhrpott Schwarzwald Elbe Alpen Rhein Harz Spree Eifel Allgäu Küste",
    "Spedition Logistik Transporte Fracht Kutscher Güter",
  ),
  language(
    12,
    "Dave James John Paul Mark Steve Chris Andrew Lee Gary Craig Callum Ryan Ian Stuart Nigel Owen Rhys Sarah Emma Claire Gemma Sian Priya",
    "Harring Ash Thorn Whit Brad Clay Wood Stan Holl Kings Mars Hart Black Green Fair Lang Wil Edg Hamp Win Bux Sut Carl Mor",
    "ton ley ford worth well field by son",
    "Pennine Highland Mersey Solent Cotswold Fenland Wye Caledonian Severn Moorland Channel Anvil",
    "Haulage Logistics Freight Transport Carriers Lines",
  ),
  language(
    8,
    "Mike John Bill Jim Bobby Travis Cody Wade Earl Dale Randy Jesse Luis Marcus Tyler Hank Duane Ray Tina Debbie Crystal Jolene Rosa Becky",
    "Smith Jones Johnson Davis Miller Anderson Jackson Harris Walker Young King Wright Hill Scott Baker Nelson Carter Parker Turner Reed Cook Bailey Cooper Foster",
    "_ _ _ s ton",
    "Prairie Lonestar Bayou Rockies Dakota Canyon Redwood Mojave Ozark Delta Blueridge Cascade",
    "Trucking Freightways Haulers Hotshots Express Rigs",
  ),
  language(
    7,
    "Jean Philippe Nicolas Julien Laurent Thierry Sébastien Frédéric Kévin Mathieu Rémi François Loïc Hervé Karim Jean-Luc Nathalie Sandrine Céline Aurélie Élodie Manon",
    "Mar Ber Du Le Gar Per Cha Roche Mou Fon Bou Bel Lam Gau Mer Val Cler Ri Tau Gui",
    "tin nard mont lin rier taine chard vin geois bert",
    "Étoile Mistral Loire Bretagne Garonne Jura Vosges Provence Camargue Ardennes",
    "Transports Messagerie Fret Routiers Express Convois",
  ),
  language(
    6,
    "Antonio José Manuel Javier David Carlos Sergio Raúl Rubén Íñigo Óscar Pablo Álvaro Jordi Carmen Laura Marta Lucía Begoña Nuria",
    "Gonzál Rodrígu Lóp Martín Sánch Pér Góm Jimén Hernánd Álvar Fernánd Ramír Domíngu Vázqu Benít Gutiérr Núñ Ibáñ",
    "ez",
    "Camino Sierra Ebro Duero Levante Meseta Toro Ñandú Andes Pampa",
    "Transportes Logística Fletes Carga Rutas",
  ),
  language(
    6,
    "João Pedro Rui Nuno Tiago Hugo Marcelo Rodrigo Anderson Thiago Leandro Fábio Ana Inês Conceição Juliana",
    "Silva Santos Oliveira Souza Pereira Costa Ribeiro Carvalho Gonçalves Araújo Magalhães Conceição Moraes Simões Guimarães Brandão",
    "",
    "Atlântico Sertão Minho Alentejo Douro Jacaré Cerrado Pantanal",
    "Transportes Expresso Fretes Cargas Rodovias",
  ),
  language(
    6,
    "Marco Giuseppe Andrea Francesco Luca Alessandro Matteo Stefano Roberto Davide Salvatore Niccolò Giulia Chiara Paola Ilaria",
    "Ross Bianch Ferr Espos Roman Colomb Ricc Marin Grec Brun Gall Cont Mancin Lombard Morett Fontan",
    "i i i o etti ini ari ucci",
    "Vesuvio Adriatica Stella Brennero Etna Dolomiti Tirreno Arno",
    "Trasporti Autotrasporti Logistica Corriere Carichi",
  ),
  language(
    8,
    "Lars Anders Johan Björn Erik Magnus Göran Åke Håkan Jonas Ole Kjell Øyvind Terje Pål Søren Jørgen Mads Åsa Malin Linnéa Ingrid Mette Silje",
    "Ander Johan Erik Lar Ol Per Sven Gustaf Peter Jon Hans Nil Kristian Søren Jørgen Håkan",
    "sson sson sen sen",
    "Nordkapp Fjord Öresund Älg Sund Skåne Fjell Vänern Jylland Polar",
    "Åkeri Frakt Spedisjon Transport Fragt Logistik",
  ),
  language(
    5,
    "Jan Peter Henk Kees Johan Bas Sander Daan Ruben Wouter Gert-Jan Joris Anneke Sanne Femke Lotte",
    "Jans Pieters Hendriks Willems Dijk Berg Brink Velden Meer Bosch Haan Kuipers Vos Mulder",
    "_ _ en ma stra",
    "Polder Tegenwind Maas Waddenzee Veluwe IJssel Schelde Kanaal",
    "Transport Koeriers Vervoer Express Logistiek",
  ),
  language(
    4,
    "Jukka Pekka Timo Mikko Antti Jari Ville Väinö Janne Jyrki Päivi Sanna",
    "Korho Virta Mäki Niemi Heikki Koski Järvi Lehto Saari Salo",
    "nen la nen mäki",
    "Sisu Revontuli Saimaa Pohjola Kaleva Lappi",
    "Kuljetus Rahti Logistiikka Kuorma",
  ),
  language(
    7,
    "Jiří Petr Pavel Jaroslav Tomáš Zdeněk Ondřej Lukáš Juraj Ľubomír Marián Jana Hana Kateřina Žaneta Zuzana",
    "Novot Dvořá Svobod Černý Procház Kučer Vesel Horá Němeček Pokorný Pospíšil Hájek Jelínek Růžič",
    "ný k a ka",
    "Vltava Morava Tatra Krkonoše Šumava Beskydy Dunaj",
    "Doprava Autodoprava Cargo Špedícia Kamiony",
  ),
  language(
    5,
    "László István Zoltán Gábor Péter Attila Balázs Ferenc Éva Ágnes Ildikó Tünde",
    "Nagy Kovács Tóth Szabó Horváth Varga Kiss Molnár Németh Farkas Balogh Papp Lakatos Juhász",
    "",
    "Puszta Tisza Balaton Tokaj Mátra Hortobágy",
    "Fuvar Szállítmányozás Trans Teher Kamion",
    "F G",
  ),
  language(
    6,
    "Andrei Mihai Ion Răzvan Ștefan Gheorghe Cristian Marko Nikola Ivan Goran Dragan Željko Miloš Ana Ioana Jelena Dunja",
    "Popov Petrov Jovanov Nikol Marković Ionesc Georgesc Mihăil Stojan Horvat Babić Kovačev Pavlov Stan",
    "ić ić escu u ić",
    "Carpați Dunărea Jadran Šumadija Velebit Bucegi Sava",
    "Trans Prijevoz Logistic Špedicija Cargo",
  ),
  language(
    6,
    "Mehmet Mustafa Ahmet Ali Hüseyin Emre Burak Oğuz Çağlar Şükrü İsmail Ayşe Fatma Gülşen",
    "Yılmaz Demir Çelik Şahin Yıldız Öztürk Aydın Özdemir Arslan Doğan Kılıç Koç Kurt Işık",
    "_ _ _ oğlu",
    "Anadolu Boğaziçi Toros Ege Karadeniz Yıldız",
    "Nakliyat Lojistik Taşımacılık Kargo",
  ),
  language(
    8,
    "Александр Дмитрий Сергей Алексей Андрей Михаил Пётр Юрий Николай Ольга Елена Наталья Артём Игорь",
    "Иван Петр Сидор Кузнец Васил Михайл Фёдор Мороз Волк Алексе Лебеде Семён Егор Павл Козл",
    "ов ов ин енко",
    "Байкал Сибирь Урал Волга Север Трансъевропа Алтай",
    "Транзит Логистик Карго Транс Грузы",
  ),
  language(
    4,
    "Тарас Богдан Андрій Сергій Іван Володимир Оксана Юлія Ярослав Остап",
    "Шевч Бондар Коваль Ткач Мельнич Поліщ Кравч Олійн Савч",
    "енко ук чук ик",
    "Дніпро Карпати Степ Чумак Полтава",
    "Експрес Логістик Транс Шлях",
  ),
  language(
    3,
    "Γιώργος Νίκος Δημήτρης Κώστας Γιάννης Σταύρος Μαρία Ελένη",
    "Παπαδόπ Νικολαΐδ Γεωργί Δημητρί Οικονόμ Καραγιάνν",
    "ουλος άκης ου ης",
    "Αιγαίο Όλυμπος Οδύσσεια Αργοναύτες",
    "Μεταφορές Μεταφορική Φορτία",
  ),
  language(
    4,
    "太郎 健太 翔 大輔 直樹 拓也 美咲 さくら 陽子 葵",
    "佐藤 鈴木 高橋 田中 渡辺 伊藤 山本 中村 小林 加藤 吉田 山田",
    "",
    "東京 富士 夜明け 北海 瀬戸 猫の手",
    "運送 物流 運輸 エクスプレス",
    "F G",
  ),
  language(
    4,
    "伟 芳 娜 强 磊 军 洋 勇 艳 杰 浩然 欣怡",
    "王 李 张 刘 陈 杨 黄 赵 吴 周 徐 孙",
    "",
    "长城 丝路 黄河 昆仑 东海",
    "物流 货运 快运",
    "FG",
  ),
  language(
    2,
    "민준 서준 지훈 현우 서연 지우 수빈 예은",
    "김 이 박 최 정 강 조 윤 장 임",
    "",
    "한강 번개 백두 남산",
    "물류 트럭 운송",
    "FG",
  ),
  language(
    2,
    "สมชาย สมหญิง วิชัย กิตติ มานี อนันต์ นิรันดร์",
    "รักไทย ใจดี ศรีสุข ทองดี แสงจันทร์ บุญมา",
    "",
    "สยาม ล้านนา อันดามัน",
    "ขนส่ง โลจิสติกส์",
  ),
  language(
    2,
    "محمد أحمد علي يوسف خالد فاطمة مريم ليلى",
    "الحداد النجار السائق الخطيب العلي المصري الشامي",
    "",
    "الصحراء النيل الأطلس الواحة",
    "للنقل للشحن اللوجستية",
  ),
];

export const handleStarts = words(
  "Night Diesel Turbo Iron Asphalt Lonely Midnight Rusty Silver Mad Sleepy Crazy Lucky Ghost Wild Heavy Rapid Frost Thunder Shadow Polar Captain Mister Uncle Highway Chrome Retro Grumpy Humble Electric Foggy Golden",
);
export const handleEnds = words(
  "Hauler Trucker Wolf Rider Bear Driver Fox Pilot Gear Cargo Wheels Badger Raven Viking Bandit Diesel Nomad Hawk Tiger Owl Racer Duke Piston Moose Ranger Smoke Axle Walrus Otter Clutch Rookie Legend",
);
export const syllables = words(
  "ka zo ri mel tor va nek shi lu dra ben ko yas mir fen ta gro lix pa dou sem bri na vel jo hux cy wra quin dey mo ster",
);
export const companyStarts = words(
  "Iron Blue Night Red Golden First Northern Southern Royal United Global Rapid Steel Silver Black White Green Star Eagle Falcon Titan Atlas Orion Nova Apex Vertex Phoenix Viking Lion Crown Horizon Summit",
);
export const companyEnds = words(
  "Logistics Haulage Freight Express Transport Cargo Lines Trucking Carriers Convoy Movers Roadways",
);
export const companyTails = words("VTC Group Europe Int. 24/7 Team United EU & Co. 2.0");

export const companyRoles = {
  owner: "Owner",
  lead: words("Manager Manager Dispatcher HR"),
  staff: words("Driver Driver Driver Driver Driver Driver Veteran Trainee"),
};

/** Id, name, hierarchy. */
export const roles: readonly (readonly [number, string, number])[] = [
  [1, "Driver", 10],
  [2, "Patron", 15],
  [3, "Translator", 20],
  [4, "Convoy Leader", 30],
  [5, "Event Organiser", 40],
  [6, "Moderator", 60],
  [7, "Developer", 80],
  [8, "Administrator", 100],
];

/** Name, description, kind, tier, points; the id is the position, from 1, the common ones first. */
export const achievements: readonly (readonly [string, string, string, number, number])[] = [
  ["First Gear", "Deliver the first load.", "delivery", 1, 5],
  ["Warm Engine", "Drive 1,000 km.", "distance", 1, 10],
  ["Regular", "Deliver ten loads.", "delivery", 1, 10],
  ["Night Owl", "Deliver ten loads between midnight and four.", "time", 1, 25],
  ["Early Bird", "Be on the road before five, ten days in a row.", "time", 1, 15],
  ["Gentle Foot", "Deliver without a scratch, twenty times in a row.", "safety", 1, 20],
  ["Border Hopper", "Cross ten borders in one week.", "exploration", 1, 20],
  ["Convoy!", "Drive in a convoy of twenty.", "community", 1, 15],
  ["Heavyweight", "Haul over 40 t.", "delivery", 2, 30],
  ["Island Life", "Take ten ferries.", "exploration", 2, 25],
  ["Eco Driver", "Keep below 26 l/100 km for 5,000 km.", "economy", 2, 35],
  ["Polar Circle", "Deliver north of 66° 33′.", "exploration", 2, 40],
  ["Alpinist", "Cross twelve passes above 2,000 m.", "exploration", 2, 40],
  ["Long Way Round", "Drive 40,075 km: once around the Equator.", "distance", 2, 50],
  ["Marathon", "Deliver over 3,000 km in one job.", "distance", 2, 45],
  ["Good Neighbour", "Help fifty beginners.", "community", 2, 50],
  ["Millionaire", "Earn 1,000,000 €.", "economy", 2, 50],
  ["Abnormal Load", "Deliver a special transport.", "delivery", 2, 55],
  ["Five Years", "Be a member for five years.", "time", 3, 75],
  ["To the Moon", "Drive 384,400 km.", "distance", 3, 125],
  ["Founder", "Lead a company of fifty.", "community", 3, 100],
  ["Spotless", "Drive 100,000 km without damage.", "safety", 3, 150],
  ["Every City", "Deliver to every city on the map.", "exploration", 3, 175],
  ["And Back Again", "Drive 768,800 km.", "distance", 3, 200],
];
