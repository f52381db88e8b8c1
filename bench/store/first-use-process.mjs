// A program as somebody would write it, in a process of its own, measured since it began: until the store has answered
// something; and where there is a team already, until there is a runtime that has asked who and what it is for.
import { existsSync } from 'node:fs'
import { teamRegistry } from '@cordon/team'
import { createCordon, tool } from 'cordon'
import { listTools, migrate, openPglite } from '@cordon/team/store'
import { TEAM, foundTeam } from './team.mjs'

const folder = String(process.argv[2])
const isNew = !existsSync(folder)
const engine = openPglite({ folder })
await migrate(engine)
await listTools(engine, TEAM)
const answeredMs = performance.now()
const { user, system } = process.cpuUsage()
const cordon = isNew
  ? undefined
  : await createCordon({
      workspace: import.meta.dirname,
      registry: teamRegistry({ engine, owner: TEAM, agent: 'host-1', runner: 'bench', speaks: 'gateway' }),
      tools: [tool({ name: 'look', run: () => 'seen' })],
    })
const runtimeMs = performance.now()
if (isNew) await foundTeam(engine)
await cordon?.close()
await engine.close()
process.stdout.write(JSON.stringify({ answeredMs, runtimeMs, cpuMs: (user + system) / 1000 }))
process.exit()
