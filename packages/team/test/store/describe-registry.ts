// Makes the same claims for both engines. Each team has its own registry in one database.
import { afterAll, beforeAll } from 'vitest'

import type { Engine } from '../../src/store/index.js'

import { describeEngines, openEngine } from './engines.js'
import type { EngineName, ServerTurns } from './engines.js'
import { newRegistry } from './registry.js'
import type { Registry } from './registry.js'

export const REFUSED = { code: 'store-refused' }
export const BAD_STATE = { code: 'store-state' }
export const MISSING = { code: 'store-missing' }

export type TeamRegistry = Registry & { readonly owner: string }

export interface Stage {
  readonly engine: Engine
  readonly fresh: () => Promise<TeamRegistry>
  readonly claim: (
    registry: TeamRegistry,
    id: string,
  ) => Promise<{ readonly fence: string; readonly status: string } | undefined>
  readonly complete: (
    registry: Registry,
    id: string,
    fence: unknown,
    status?: string,
    cost?: number | null,
  ) => Promise<unknown>
}

export const describeRegistry = (title: string, body: (stage: Stage) => void, server?: ServerTurns): void => {
  const onEngine = (name: EngineName): void => {
    let opened: Awaited<ReturnType<typeof openEngine>>
    let teams = 0
    beforeAll(async () => {
      opened = await openEngine(name)
    })
    afterAll(async () => {
      await opened.close()
    })
    body({
      get engine() {
        return opened.engine
      },
      fresh: async () => {
        const owner = `team-${String((teams += 1))}`
        return { ...(await newRegistry(opened.engine, owner)), owner }
      },
      claim: async (registry, id) =>
        (
          await registry.runner.query<{ fence: string; status: string }>(
            'select * from agents.fn_claim_tool_invocations($1, 10, $2)',
            [`${registry.owner}-runner`, id],
          )
        )[0],
      complete: (registry, id, fence, status = 'completed', cost = null) =>
        registry.runner.query('select agents.fn_complete_tool_invocation($1, $2, $3, null, $4, $5)', [
          id,
          status,
          '{"ok":true}',
          cost,
          fence,
        ]),
    })
  }
  describeEngines(title, onEngine, server)
}
