export declare const AGENT_PACKAGES: Readonly<Record<'claude' | 'codex' | 'gemini' | 'opencode', string>>
/** The path of a program. Undefined if it is not installed. */
export declare const agentProgram: (name: 'claude' | 'codex' | 'gemini' | 'opencode') => string | undefined
