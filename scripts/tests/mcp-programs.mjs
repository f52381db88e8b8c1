// The clients and servers that packages/mcp/test/mcp tries beside those among the dependencies.
import { join } from 'node:path'

import { npmPrograms, provideIfStarted } from './npm-programs.mjs'

/** By short names. packages/mcp/docs/mcp.md names these versions. */
export const MCP_PACKAGES = {
  conformance: '@modelcontextprotocol/conformance@0.2.0-alpha.12',
  inspector: '@modelcontextprotocol/inspector@2.12.0',
  // The suite, the Inspector and the server of databases need a newer Node than Cordon.
  node: `node-linux-${process.arch}@22.23.3`,
  eslint: '@eslint/mcp@0.3.13',
  git: '@cyanheads/git-mcp-server@2.15.3',
  excel: '@negokaz/excel-mcp-server@0.12.0',
  databases: '@bytebase/dbhub@1.4.0',
}

const { installed, provide } = npmPrograms('mcp', MCP_PACKAGES)

export const mcpModules = installed

/** The path of a newer Node. Undefined if it is not installed. */
export const newerNode = () => {
  const modules = installed('node')
  return modules === undefined ? undefined : join(modules, MCP_PACKAGES.node.replace(/@.*/, ''), 'bin', 'node')
}

export const provideMcpPrograms = provide

provideIfStarted(import.meta.url, provide)
