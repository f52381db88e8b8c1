// A server with sandboxed tools that fetch from hosts and read files. Its arguments: the ports of own.test and of
// outer.test, and the files that two of its tools read.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { sandboxedTool } from '@cordon/mcp'
import { z } from 'zod'

const [own, outer, granted, withheld] = process.argv.slice(2)
const server = new McpServer({ name: 'nested', version: '1' })
const reads = (...hosts) => ({ network: hosts.map((host) => ({ host, methods: ['GET'] })) })

const POLICIES = {
  fetch_own: reads(`own.test:${own}`),
  fetch_both: reads(`own.test:${own}`, `outer.test:${outer}`),
  fetch_more: reads(`own.test:${own}`, `nobody.test:${outer}`),
  fetch_nothing: {},
}
for (const [name, policy] of Object.entries(POLICIES))
  sandboxedTool(server, {
    name,
    inputSchema: z.object({ host: z.string(), port: z.number() }),
    policy,
    run: async ({ host, port }) => {
      const answer = await fetch(`http://${host}:${port}/`)
      return `${answer.status} ${await answer.text()}`
    },
  })
sandboxedTool(server, {
  name: 'curl_own',
  inputSchema: z.object({ host: z.string(), port: z.number() }),
  policy: POLICIES.fetch_own,
  command: ({ host, port }) => ['/usr/bin/curl', '-sS', '--noproxy', '*', `http://${host}:${port}/`],
})
for (const [name, file] of Object.entries({ read_granted: granted, read_withheld: withheld }))
  sandboxedTool(server, { name, policy: { filesystem: { read: [file] } }, command: () => ['/bin/cat', file] })
// Only an omitted `exec` can be given up.
for (const [name, policy] of Object.entries({ starts_nothing: { exec: 'none' }, starts_programs: {} }))
  sandboxedTool(server, {
    name,
    policy,
    run: async () => (await import('node:child_process')).execFileSync('/bin/echo', ['-n', 'started']).toString(),
  })

await server.connect(new StdioServerTransport())
