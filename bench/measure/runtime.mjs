// A runtime that is measured: in a folder of its own, with its log, both gone afterwards.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCordon, processTool, tool } from 'cordon'

/** @typedef {Awaited<ReturnType<typeof createCordon>>} Cordon */

/**
 * With the tools `add` (a function) and `true` (a process), and others.
 * @param {Parameters<typeof createCordon>[0]['tools']} others
 */
export async function openRuntime(others) {
  const folder = mkdtempSync(join(tmpdir(), 'cordon-bench-'))
  const cordon = await createCordon({
    workspace: folder,
    mode: 'on_request',
    audit: { path: join(folder, 'log', 'audit.jsonl') },
    tools: [
      tool({ name: 'add', run: (/** @type {{ a: number, b: number }} */ { a, b }) => a + b }),
      processTool({ name: 'true', command: () => ['/bin/true'] }),
      ...others,
    ],
  })
  const close = async () => {
    await cordon.close()
    rmSync(folder, { recursive: true, force: true })
  }
  return { cordon, close }
}
