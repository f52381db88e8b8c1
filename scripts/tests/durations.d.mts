export declare const lastDurations: () => ReadonlyMap<string, number>
