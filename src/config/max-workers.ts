/** The maximum of `app.workers`. Each process needs memory for its models. */
export const MAX_WORKERS = 64;
