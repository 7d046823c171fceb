/** Environment variables by name, such as `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;
