/** `1 tool`, `2 tools` */
export const counted = (count: number, what: string): string => `${String(count)} ${what}${count === 1 ? '' : 's'}`
