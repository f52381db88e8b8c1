// Names that the server, the tools and the soak share.
export const HOST = 'api.test'
/** In one header: with text handling that is quadratic this many blanks hold a process for seconds. */
export const BLANKS = 64_000
