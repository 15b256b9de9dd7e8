/** Types of packages that have none. */
declare module "aromanize" {
  const aromanize: { romanize(text: string): string };
  export default aromanize;
}

declare module "greek-utils" {
  const greekUtils: { toGreeklish(text: string): string; toPhoneticLatin(text: string): string };
  export default greekUtils;
}
