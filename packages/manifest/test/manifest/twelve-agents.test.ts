import { expect, test } from 'vitest'

import type { ManifestAgent } from 'cordon/manifest'
import { cutSentence, exfiltrationSentence } from '../../src/flow/exfiltration-text.js'
import { exfiltrations } from '@cordon/manifest'
import { agentOf, manifestWith, plain, serverOf, toolOf } from './agents.js'

const GET = (host: string) => ({ network: [{ host, methods: ['GET'] }] })
const reads = (...files: readonly string[]) => ({ filesystem: { read: files } })
const TOKEN = { id: 'token', inject: { as: 'bearer', host: 'api.own.test' } } as const

/** All in one manifest, so that each also has to stay apart from the others. */
const TAGS = {
  public: ['./site/**'],
  trusted: ['./site/**', './ours/**', 'api.own.test', 'hooks.test:25'],
  own: ['api.own.test', '*.own.test'],
}

const mail = toolOf('mail', reads('~/mail/**'))
const browse = toolOf('browse', GET('*.news.test'))

/** The tools of the path, or undefined if there is none. */
const AGENTS: readonly { claim: string; agent: ManifestAgent; path: readonly string[] | undefined }[] = [
  {
    claim: 'private files and a browser: GET sends too',
    agent: agentOf('a1', [mail, browse]),
    path: ['mail', 'browse'],
  },
  {
    claim: 'the same files and a browser that asks',
    agent: agentOf('a2', [mail, { ...browse, approval: 'ask' }]),
    path: undefined,
  },
  {
    claim: 'three tools with one role each',
    agent: agentOf('b1', [
      toolOf('report', { environment: ['SALARIES'] }),
      toolOf('read_issues', { network: ['tracker.test'] }, { approval: 'ask' }),
      toolOf('notify', { network: ['hooks.test:25'] }),
    ]),
    path: ['report', 'read_issues', 'notify'],
  },
  {
    claim: 'the same with a host that is its own',
    agent: agentOf('b2', [
      toolOf('report', { environment: ['SALARIES'] }),
      toolOf('read_issues', { network: ['tracker.test'] }, { approval: 'ask' }),
      toolOf('notify', { network: ['hooks.own.test'] }),
    ]),
    path: undefined,
  },
  {
    claim: 'a credential for an own host, and text of a stranger',
    agent: agentOf('c1', [
      toolOf('tickets', { network: ['api.own.test'], credentials: [TOKEN] }),
      toolOf('search', GET('search.test')),
    ]),
    path: ['tickets', 'search'],
  },
  {
    claim: 'a credential for an own host, and trusted text only',
    agent: agentOf('c2', [
      toolOf('tickets', { network: ['api.own.test'], credentials: [TOKEN] }),
      toolOf('manual', reads('ours/**')),
    ]),
    path: undefined,
  },
  {
    claim: 'a tool in the process of the agent',
    agent: agentOf('d1', [toolOf('calculate', {}, { kind: 'in-process' })]),
    path: ['calculate'],
  },
  { claim: 'the same tool in a cell', agent: agentOf('d2', [toolOf('calculate', {})]), path: undefined },
  {
    claim: 'a server whose tools share one cell',
    agent: agentOf('e1', [], { mcp_servers: [serverOf('files', { ...reads('~/notes'), network: 'all' })] }),
    path: ['files'],
  },
  {
    claim: 'the same server without a network',
    agent: agentOf('e2', [], { mcp_servers: [serverOf('files', reads('~/notes'))] }),
    path: undefined,
  },
  {
    claim: 'a tool that writes what another agent publishes',
    agent: agentOf('f1', [toolOf('edit', { filesystem: { read: ['~/drafts/**'], write: ['./site/**'] } })]),
    path: ['edit', 'publish'],
  },
  {
    claim: 'the agent that publishes public, trusted files',
    agent: agentOf('f2', [toolOf('publish', { ...reads('site/**'), network: ['web.test'], egress_class: 'write' })]),
    path: undefined,
  },
]

const found = exfiltrations(
  manifestWith(
    AGENTS.map(({ agent }) => agent),
    TAGS,
  ),
)

test.each(AGENTS.filter(({ path }) => path !== undefined))('one finding for $agent.name: $claim', ({ agent, path }) => {
  const own = found.filter((each) => each.agent === agent.name)
  expect(own.map((each) => each.path.parts.map(({ name }) => name))).toEqual([path])
})

test.each(AGENTS.filter(({ path }) => path === undefined))('no finding for $agent.name: $claim', ({ agent }) => {
  expect(found.filter((each) => each.agent === agent.name)).toEqual([])
})

test('each finding says why, and what breaks the path', () => {
  expect(found.map((each) => `${plain(exfiltrationSentence(each))}. Cut: ${plain(cutSentence(each.cut, each.agent))}.`))
    .toMatchInlineSnapshot(`
      [
        "\`a1\` can be made to send private data: \`mail\` can read ~/mail/x, \`browse\` returns answers of x.news.test, and \`browse\` can reach x.news.test without an approval. Cut: ask before each call of \`browse\`.",
        "\`b1\` can be made to send private data: \`report\` gets the variable SALARIES, \`read_issues\` returns answers of tracker.test, and \`notify\` can reach hooks.test:25 without an approval. Cut: ask before each call of \`notify\`.",
        "\`c1\` can be made to send private data: \`tickets\` reads with the credential token, \`search\` returns answers of search.test, and \`search\` can reach search.test without an approval. Cut: ask before each call of \`search\`.",
        "\`d1\` can be made to send private data: \`calculate\` runs in the agent's own process, where nothing confines it. Cut: ask before each call of \`calculate\`.",
        "\`e1\` can be made to send private data: the MCP server \`files\` can read ~/notes, the MCP server \`files\` returns answers of x.example, and the MCP server \`files\` can reach x.example without an approval. Cut: ask before each call of the MCP server \`files\`.",
        "\`f1\` can be made to send private data: \`edit\` can read ~/drafts/x, \`edit\` returns the content of ~/drafts/x, and \`edit\` can write ./site/x for \`publish\` of \`f2\`, which sends it. Cut: ask before each call of \`edit\`.",
      ]
    `)
})
