/** How many unfinished requests one call may have at the proxy. More of them wait. The bridge makes fewer. */
export const MOST_REQUESTS_OF_CALL = 128
