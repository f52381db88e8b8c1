// SDKs that packages/adapters/test/adapters tries, and that are too large for the dependencies or need a newer Node
// than Cordon.
import { npmPrograms, provideIfStarted } from './npm-programs.mjs'

/** By short names. packages/adapters/docs/adapters.md names these versions. */
export const SDK_PACKAGES = {
  'claude-agent': '@anthropic-ai/claude-agent-sdk@0.3.326',
  'mastra': '@mastra/core@1.71.0',
  'strands': '@strands-agents/sdk@1.19.0',
  'adk': '@google/adk@2.0.0',
}

const { installed, provide } = npmPrograms('sdks', SDK_PACKAGES)

/** The folder with the modules of an SDK. Undefined if it is not installed. */
export const sdkModules = installed

export const provideSdks = provide

provideIfStarted(import.meta.url, provide)
