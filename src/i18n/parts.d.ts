declare module "*.json?entry" {
  const texts: object;
  export default texts;
}

declare module "*.json?app" {
  const texts: object;
  export default texts;
}

declare module "*.json?lazy" {
  const texts: object;
  export default texts;
}

declare module "*.json?idle" {
  const texts: object;
  export default texts;
}
