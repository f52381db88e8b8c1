import { HOST_SECONDS } from './installed-command.js'

/** An entry of the hooks `PreToolUse` in settings of Claude Code. `matcher` says which tools start the command. */
export interface ClaudeCodeEntry {
  matcher: string
  hooks: { type: 'command'; command: string; timeout: number; onFailure: 'block' }[]
}

/** A version before 2.1.295 ignores `onFailure`. There the command itself turns failures into a block. */
export const claudeCodeEntry = (command: string, matcher: string): ClaudeCodeEntry => ({
  matcher,
  hooks: [{ type: 'command', command, timeout: HOST_SECONDS, onFailure: 'block' }],
})
