/**
 * The demo platform's roles and achievements, written by hand. Beside what the dataset says of
 * an achievement, an entry says when a driver can earn it, so that the drawn dates make sense.
 */

export const roles = [
  { id: 1, name: "Driver", hierarchy: 10 },
  { id: 2, name: "Patron", hierarchy: 15 },
  { id: 3, name: "Translator", hierarchy: 20 },
  { id: 4, name: "Convoy Leader", hierarchy: 30 },
  { id: 5, name: "Event Organiser", hierarchy: 40 },
  { id: 6, name: "Moderator", hierarchy: 60 },
  { id: 7, name: "Developer", hierarchy: 80 },
  { id: 8, name: "Administrator", hierarchy: 100 },
] as const;

export type Kind =
  | "community"
  | "delivery"
  | "distance"
  | "economy"
  | "exploration"
  | "safety"
  | "time"
  | "vehicle";

export interface Achievement {
  name: string;
  description: string;
  kind: Kind;
  /** How demanding it is, 1 to 3; how far a driver has taken it is another tier, the driver's. */
  tier: 1 | 2 | 3;
  /** Also its rarity: the more points, the fewer drivers, and the later. */
  points: number;
  /** There is nothing to repeat: the tier reached stays 1. */
  once?: true;
  /** The name of an earlier achievement that must be unlocked first. */
  after?: string;
  /** Falls due that many years after joining, to the second. */
  years?: number;
  /** Only the owner of a company can earn it. */
  owner?: true;
  /** Days (UTC) on which it can be earned. */
  on?: (day: Date) => boolean;
  /** Hours (UTC) in which it can be earned, the second one excluded. */
  hours?: [from: number, to: number];
}

const date = (month: number, day: number) => (at: Date) =>
  at.getUTCMonth() === month - 1 && at.getUTCDate() === day;

/** An achievement's id is its position, counted from 1: add new ones at the end. */
export const achievements: readonly Achievement[] = [
  {
    name: "First Gear",
    description: "Deliver your first load, and only once ask where reverse is.",
    kind: "delivery",
    tier: 1,
    points: 5,
    once: true,
  },
  {
    name: "Warm Engine",
    description: "Drive 1,000 km, most of them in the right direction.",
    kind: "distance",
    tier: 1,
    points: 10,
    once: true,
    after: "First Gear",
  },
  {
    name: "Long Way Round",
    description: "Drive 40,075 km: once around the Equator, with better coffee.",
    kind: "distance",
    tier: 2,
    points: 50,
    once: true,
    after: "Warm Engine",
  },
  {
    name: "To the Moon",
    description: "Drive 384,400 km, as far as the Moon, where parking is easier.",
    kind: "distance",
    tier: 3,
    points: 125,
    once: true,
    after: "Long Way Round",
  },
  {
    name: "And Back Again",
    description: "Drive 768,800 km: to the Moon and home in time for dinner.",
    kind: "distance",
    tier: 3,
    points: 200,
    once: true,
    after: "To the Moon",
  },
  {
    name: "Early Bird",
    description: "Be rolling before the bakers are, ten mornings in a row.",
    kind: "time",
    tier: 1,
    points: 15,
    hours: [3, 5],
  },
  {
    name: "Night Owl",
    description: "Deliver ten loads between midnight and four, and stay polite about it.",
    kind: "time",
    tier: 1,
    points: 25,
    hours: [0, 4],
  },
  {
    name: "Featherweight",
    description: "Deliver a full trailer of pillows, and resist all of them.",
    kind: "delivery",
    tier: 1,
    points: 15,
  },
  {
    name: "Heavy Breathing",
    description: "Haul forty tonnes over a pass above 1,500 m without a rude word to the engine.",
    kind: "delivery",
    tier: 2,
    points: 40,
  },
  {
    name: "Eggs, Please",
    description: "Deliver a load of eggs that are still eggs.",
    kind: "safety",
    tier: 1,
    points: 15,
  },
  {
    name: "Just in Time",
    description: "Deliver with less than a minute left on the clock.",
    kind: "delivery",
    tier: 1,
    points: 20,
  },
  {
    name: "Embarrassingly Early",
    description: "Arrive a day ahead and wait for somebody to find the key to the gate.",
    kind: "delivery",
    tier: 2,
    points: 30,
  },
  {
    name: "Piano Forte",
    description: "Deliver a concert grand in tune.",
    kind: "delivery",
    tier: 2,
    points: 40,
  },
  {
    name: "Not a Scratch",
    description: "Deliver 50 loads in a row without damage.",
    kind: "safety",
    tier: 2,
    points: 60,
  },
  {
    name: "Bubble Wrap",
    description: "Deliver 250 loads in a row without damage; by now the paint is nervous.",
    kind: "safety",
    tier: 3,
    points: 150,
    after: "Not a Scratch",
  },
  {
    name: "Nailed It",
    description: "Reverse into the bay at the first attempt while somebody is watching.",
    kind: "safety",
    tier: 1,
    points: 10,
  },
  {
    name: "Swan Lake",
    description: "Dance a double trailer blind-side into a bay without touching a cone.",
    kind: "safety",
    tier: 3,
    points: 100,
    after: "Nailed It",
  },
  {
    name: "Get Out and Look",
    description: "Climb down and check behind you fifty times; it was clear forty-nine times.",
    kind: "safety",
    tier: 1,
    points: 15,
  },
  {
    name: "Slow and Steady",
    description: "Drive 500 km without once exceeding the limit.",
    kind: "safety",
    tier: 1,
    points: 20,
  },
  {
    name: "After You",
    description: "Be overtaken by a tractor, and wave.",
    kind: "safety",
    tier: 1,
    points: 10,
  },
  {
    name: "Full Cup",
    description: "Drive 300 km so gently that the open coffee arrives full.",
    kind: "safety",
    tier: 2,
    points: 30,
  },
  {
    name: "Clean Licence",
    description: "Go a whole year without a single fine, and tell everybody about it.",
    kind: "safety",
    tier: 3,
    points: 200,
  },
  {
    name: "Cold Feet",
    description: "Cross the Arctic Circle in winter with a heater that only hums.",
    kind: "exploration",
    tier: 2,
    points: 40,
    on: (at) => at.getUTCMonth() === 11 || at.getUTCMonth() < 3,
  },
  {
    name: "Breakfast Abroad",
    description: "Eat breakfast, lunch and dinner in three different countries on one job.",
    kind: "exploration",
    tier: 1,
    points: 25,
  },
  {
    name: "Grand Tour",
    description: "Deliver to every capital on the map and see none of the museums.",
    kind: "exploration",
    tier: 3,
    points: 150,
    after: "Breakfast Abroad",
  },
  {
    name: "Sea Legs",
    description: "Take ten ferries and keep the sandwich down.",
    kind: "exploration",
    tier: 1,
    points: 20,
  },
  {
    name: "Tunnel Vision",
    description: "Cross beneath a sea in a lorry on a train.",
    kind: "exploration",
    tier: 1,
    points: 15,
  },
  {
    name: "Scenic Route",
    description: "Take a detour of 100 km because the view was better.",
    kind: "distance",
    tier: 1,
    points: 10,
  },
  {
    name: "The Other Left",
    description: "Change to the other side of the road at a border without meeting anybody.",
    kind: "exploration",
    tier: 1,
    points: 15,
  },
  {
    name: "Dotted Line",
    description: "Discover three quarters of the roads on the map.",
    kind: "exploration",
    tier: 2,
    points: 75,
  },
  {
    name: "No Stone Unturned",
    description: "Discover every last road, including the one that is really a car park.",
    kind: "exploration",
    tier: 3,
    points: 200,
    after: "Dotted Line",
  },
  {
    name: "Penny Wise",
    description: "Drive past three filling stations to save two cents a litre.",
    kind: "economy",
    tier: 1,
    points: 10,
  },
  {
    name: "Six Zeros",
    description: "Earn your first million, before tyres.",
    kind: "economy",
    tier: 2,
    points: 60,
    once: true,
  },
  {
    name: "Tarmac Tycoon",
    description: "Earn a hundred million and still queue at the vending machine.",
    kind: "economy",
    tier: 3,
    points: 150,
    once: true,
    after: "Six Zeros",
  },
  {
    name: "Charity Work",
    description: "Finish a job with less money than you had before it.",
    kind: "economy",
    tier: 1,
    points: 10,
  },
  {
    name: "Sailing Empty",
    description: "Drive 300 km without a load because there was surely one in the next town.",
    kind: "economy",
    tier: 1,
    points: 15,
  },
  {
    name: "My Name on the Door",
    description: "Found a company of your own; the logo can wait.",
    kind: "economy",
    tier: 1,
    points: 20,
    once: true,
    owner: true,
  },
  {
    name: "Best Boss in the Bay",
    description: "Pay every driver on time for twelve months, yourself last.",
    kind: "economy",
    tier: 3,
    points: 200,
    after: "My Name on the Door",
    owner: true,
  },
  {
    name: "First Love",
    description: "Buy a truck of your own and give it a name.",
    kind: "vehicle",
    tier: 1,
    points: 15,
    once: true,
  },
  {
    name: "Seven Digits",
    description: "Keep one truck for a million kilometres; it has earned the good polish.",
    kind: "vehicle",
    tier: 3,
    points: 250,
    once: true,
    after: "And Back Again",
  },
  {
    name: "Rainmaker",
    description: "Wash the truck an hour before the rain. Again.",
    kind: "vehicle",
    tier: 1,
    points: 5,
  },
  {
    name: "Visible from Space",
    description: "Fit more lamps than the electrician thought wise.",
    kind: "vehicle",
    tier: 2,
    points: 25,
  },
  {
    name: "Look, No Clutch",
    description: "Go up through twelve gears and down again with the left foot on holiday.",
    kind: "vehicle",
    tier: 2,
    points: 40,
  },
  {
    name: "Running on Fumes",
    description: "Reach the pump with less fuel in the tank than coffee in the flask.",
    kind: "vehicle",
    tier: 1,
    points: 15,
  },
  {
    name: "Light Foot",
    description: "Average less than 22 litres per 100 km over 5,000 km.",
    kind: "vehicle",
    tier: 2,
    points: 60,
  },
  {
    name: "Silent Running",
    description: "Deliver with an electric truck and hear, for once, the squeaky seat.",
    kind: "vehicle",
    tier: 1,
    points: 20,
    on: (at) => at.getUTCFullYear() >= 2021,
  },
  {
    name: "Respect Your Elders",
    description: "Deliver in a truck that is older than your driving licence.",
    kind: "vehicle",
    tier: 2,
    points: 30,
  },
  {
    name: "Ten-Four",
    description: "Say hello on the radio and get an answer.",
    kind: "community",
    tier: 1,
    points: 5,
    once: true,
  },
  {
    name: "Elephant Walk",
    description: "Finish in a convoy of 25 trucks, nose to tail.",
    kind: "community",
    tier: 1,
    points: 20,
  },
  {
    name: "Mother Duck",
    description: "Lead a hundred trucks through a roundabout and lose none of them.",
    kind: "community",
    tier: 3,
    points: 125,
    after: "Elephant Walk",
  },
  {
    name: "Hazard Lights",
    description: "Stop for a stranger who has broken down, and share the sandwiches.",
    kind: "community",
    tier: 1,
    points: 15,
  },
  {
    name: "Open Microphone",
    description: "Sing a whole song on the radio with the button stuck down.",
    kind: "community",
    tier: 1,
    points: 10,
  },
  {
    name: "Passenger Seat",
    description:
      "Ride along until a trainee's first delivery and keep both hands off the dashboard.",
    kind: "community",
    tier: 2,
    points: 50,
  },
  {
    name: "Candle on the Dashboard",
    description: "Stay for one year; there was cake at the depot.",
    kind: "community",
    tier: 1,
    points: 10,
    once: true,
    years: 1,
  },
  {
    name: "Part of the Furniture",
    description: "Stay for five years; new drivers think that you came with the building.",
    kind: "community",
    tier: 2,
    points: 50,
    once: true,
    years: 5,
    after: "Candle on the Dashboard",
  },
  {
    name: "Out of Paper",
    description: "Stay for ten years; the tachograph has asked for early retirement.",
    kind: "community",
    tier: 3,
    points: 100,
    once: true,
    years: 10,
    after: "Part of the Furniture",
  },
  {
    name: "Eighteen Reindeer",
    description: "Deliver on Christmas Eve, by the door for once.",
    kind: "time",
    tier: 2,
    points: 25,
    on: date(12, 24),
  },
  {
    name: "Happy New Gear",
    description: "Be at the wheel in the first hour of the year.",
    kind: "time",
    tier: 2,
    points: 25,
    on: date(1, 1),
    hours: [0, 1],
  },
  {
    name: "Leap of Freight",
    description: "Deliver on a 29 February, a day that no timetable believes in.",
    kind: "time",
    tier: 3,
    points: 60,
    on: date(2, 29),
  },
  {
    name: "Lucky Thirteen",
    description: "Deliver thirteen tonnes on a Friday the 13th and knock on the wooden pallet.",
    kind: "time",
    tier: 2,
    points: 30,
    on: (at) => at.getUTCDay() === 5 && at.getUTCDate() === 13,
  },
];
