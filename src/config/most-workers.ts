/** The most processes of a server. Each of them needs memory for its models. */
export const MOST_WORKERS = 64;
