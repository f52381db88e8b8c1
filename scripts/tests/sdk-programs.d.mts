type Name = 'claude-agent' | 'mastra' | 'strands' | 'adk'
export declare const SDK_PACKAGES: Readonly<Record<Name, string>>
/** The folder with the modules of an SDK. Undefined if it is not installed. */
export declare const sdkModules: (name: Name) => string | undefined
