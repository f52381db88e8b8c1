// An agent's process: asks for one call that it runs itself, or that a runner on another host will, or goes on with
// one, and prints what it hears.
import { loadToolFiles, teamRegistry } from '@cordon/team'
import { openPostgres } from '@cordon/team/store'
import { createCordon } from 'cordon'

const { url, tools, workspace, tool, input, invocation, registry } = JSON.parse(process.argv[2])
const tell = (value) => process.stdout.write(`${JSON.stringify(value)}\n`)
const engine = openPostgres({ url })
const cordon = await createCordon({
  workspace,
  // What the registry allows is allowed here; what it asks about is asked there.
  rules: [{ rules: [{ effect: 'allow', tool: [tool], because: 'the registry decides' }] }],
  tools: (await loadToolFiles([tools])).map(({ definition }) => definition),
  registry: teamRegistry({ engine, owner: 'team', speaks: 'login', ...registry }),
})
const result = await cordon.call(tool, input, {
  onInvocation: (id) => tell({ invocation: id }),
  onOutput: ({ text }) => tell({ heard: text }),
  ...(invocation === undefined ? {} : { invocation }),
})
tell({
  status: result.status,
  output: result.output ?? null,
  reason: result.reason ?? null,
  registered: result.facts.registered ?? null,
})
await cordon.close()
await engine.close()
