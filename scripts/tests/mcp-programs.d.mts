type Name = 'conformance' | 'inspector' | 'node' | 'eslint' | 'git' | 'excel' | 'databases'
export declare const MCP_PACKAGES: Readonly<Record<Name, string>>
/** The folder with the modules of a package. Undefined if it is not installed. */
export declare const mcpModules: (name: Name) => string | undefined
/** The path of a newer Node. Undefined if it is not installed. */
export declare const newerNode: () => string | undefined
