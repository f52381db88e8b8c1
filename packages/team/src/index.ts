/// <reference types="node" preserve="true" />
// @cordon/team: the registry of a team as an option of createCordon, its database, its server and its runners.
export { teamRegistry } from './registry/index.js'
export type { OwnDatabase, RegistrySettings, ServedRegistry } from './registry/index.js'
export { startRunner } from './runner/start-runner.js'
export type { Runner, RunnerOptions } from './runner/start-runner.js'
export type { RunnerNews } from './runner/run-claimed.js'
export { registrationOf, loadToolFiles } from './tools/tool-files.js'
export type { RunnerTool } from './tools/tool-files.js'
