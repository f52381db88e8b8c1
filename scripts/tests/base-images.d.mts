/** The root of an image as an archive. Undefined if it was not made. */
export declare const baseImage: (name: 'build' | 'base') => string | undefined
export declare const NPM_CACHE: string
