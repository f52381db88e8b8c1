export declare const ENTRIES: ReadonlyMap<string, string>
export declare const sourceOf: (module: string) => string
