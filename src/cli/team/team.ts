import type { CommandLine } from '../command-line.js'
import type { CommandContext } from '../store/store-command.js'
import { runStoreCommand } from '../store/store-command.js'
import { renderSpan, renderTable, renderWindow } from '../text/table-text.js'
import { TEAM_HELP } from './team-help.js'
import { pause, resume, scopeOf, stop } from './team-stop.js'
import { parseSpan } from '../text/time-words.js'
import { visible } from '../text/visible-text.js'

export const team = (line: CommandLine): Promise<number> =>
  runStoreCommand(
    {
      name: 'team',
      help: TEAM_HELP,
      makesStore: 'create',
      actions: {
        create,
        show,
        add: (context) => change(context, 'addMember'),
        remove: (context) => change(context, 'removeMember'),
        stop,
        pause,
        resume,
        profile,
        budget,
        limit,
      },
    },
    line,
  )

const create = async ({ store, words, wrong, print }: CommandContext): Promise<number> => {
  const [name, ...rest] = words
  if (name === undefined || rest.length > 0) throw wrong('name one team')
  const { actor } = await store.ask('whoAmI', {})
  await store.ask('foundTeam', { team: name, admin: actor })
  print(
    { team: name, admin: actor },
    (paint) => `${paint('green', 'created')} ${visible(name)}; ${visible(actor)} is its admin\n`,
  )
  return 0
}

const show = async ({ store, team: teamOf, print }: CommandContext): Promise<number> => {
  const of = { team: await teamOf() }
  const [members, stops, profiles, budgets, limits] = [
    await store.ask('listMembers', of),
    await store.ask('listStops', of),
    await store.ask('listProfiles', of),
    await store.ask('listBudgets', of),
    await store.ask('listLimits', of),
  ]
  print({ ...of, members, stops, profiles, budgets, limits }, (paint) =>
    [
      `${paint('bold', visible(of.team))}\n`,
      renderTable(
        ['MEMBER', 'IS'],
        members.map(({ actor, kinds }) => [actor, kinds.join(', ')]),
        paint,
        'nobody of it is to be seen by you',
      ),
      ...(stops.length === 0
        ? []
        : [
            '\n',
            renderTable(
              ['STOPPED', 'HOW', 'BY', 'SINCE', 'WHY'],
              stops.map(({ scope, subject, state, author, since, reason }) => [
                `${scope} ${subject}`.trim(),
                state,
                author,
                since.slice(0, 16),
                reason,
              ]),
              paint,
              '',
            ),
          ]),
      ...(profiles.length === 0
        ? []
        : [
            '\n',
            renderTable(
              ['PROFILE', 'ALLOWS', 'GROUPS', 'NOT', 'ASKS'],
              profiles.map(({ name, allowTools, toolGroups, denyTools, askTools, requiresApproval, isDefault }) => [
                isDefault ? `${name} (default)` : name,
                allowTools?.join(' ') ?? 'all',
                toolGroups?.join(' ') ?? 'all',
                denyTools.join(' '),
                requiresApproval
                  ? 'always'
                  : ['as the tool says', ...(askTools.length === 0 ? [] : [`about ${askTools.join(' ')}`])].join('; '),
              ]),
              paint,
              '',
            ),
          ]),
      ...(budgets.length === 0
        ? []
        : [
            '\n',
            renderTable(
              ['BUDGET', 'PER', 'CALLS', 'COST', 'ANEW IN'],
              budgets.map(({ scope, subject, seconds, maxCalls, maxCost, usedCalls, usedCost, until }) => [
                `${scope} ${subject}`,
                renderWindow(seconds),
                usedOf(usedCalls, maxCalls),
                usedOf(usedCost, maxCost),
                renderSpan(Date.parse(until) - Date.now()),
              ]),
              paint,
              '',
            ),
          ]),
      ...(limits.length === 0
        ? []
        : [
            '\n',
            renderTable(
              ['LIMIT', 'QUESTIONS WAITING'],
              limits.map(({ agent, waiting }) => [agent === null ? 'every agent' : `agent ${agent}`, String(waiting)]),
              paint,
              '',
            ),
          ]),
    ].join(''),
  )
  return 0
}

const usedOf = (used: number | null, most: number | null): string =>
  most === null ? 'any' : used === null ? String(most) : `${String(used)} of ${String(most)}`

const KINDS = ['admin', 'operator', 'agent', 'runner'] as const

const change = async (
  { store, words, team: teamOf, wrong, print }: CommandContext,
  how: 'addMember' | 'removeMember',
): Promise<number> => {
  const [actor, ...named] = words
  const kinds = named.map((word) => KINDS.find((kind) => kind === word))
  const wanted = kinds.filter((kind) => kind !== undefined)
  if (actor === undefined || kinds.length === 0 || wanted.length < kinds.length)
    throw wrong(`say MEMBER and what they are: ${KINDS.join(', ')}`)
  const of = await teamOf()
  for (const kind of wanted) await store.ask(how, { team: of, actor, kind })
  print(
    { team: of, actor, kinds: wanted, status: how === 'addMember' ? 'added' : 'removed' },
    (paint) =>
      `${how === 'addMember' ? paint('green', 'added') : 'removed'} ${visible(actor)}: ${wanted.join(', ')} ` +
      `of ${visible(of)}\n`,
  )
  return 0
}

const profile = async ({
  store,
  words,
  values,
  switches,
  team: teamOf,
  wrong,
  print,
}: CommandContext): Promise<number> => {
  const [name, ...rest] = words
  if (name === undefined || rest.length > 0) throw wrong('name one profile')
  const [allow, deny, groups, asked] = [
    values.get('allow'),
    values.get('deny'),
    values.get('group'),
    values.get('ask-about'),
  ]
  if (
    allow === undefined &&
    deny === undefined &&
    groups === undefined &&
    asked === undefined &&
    !switches.has('ask') &&
    !switches.has('default')
  )
    throw wrong(
      'the profile would be empty',
      'give all that it is to be, which replaces what it was: --allow, --deny, --group, --ask, --ask-about, --default',
    )
  const wanted = {
    name,
    ...(allow === undefined ? {} : { allowTools: allow }),
    ...(deny === undefined ? {} : { denyTools: deny }),
    ...(groups === undefined ? {} : { toolGroups: groups }),
    ...(asked === undefined ? {} : { askTools: asked }),
    requiresApproval: switches.has('ask'),
    isDefault: switches.has('default'),
  }
  await store.ask('setProfile', { team: await teamOf(), ...wanted })
  const said = [
    `allows ${allow?.join(' ') ?? 'all'}`,
    ...(groups === undefined ? [] : [`of the groups ${groups.join(' ')}`]),
    ...(deny === undefined ? [] : [`without ${deny.join(' ')}`]),
    ...(wanted.requiresApproval
      ? ['asks about every call']
      : asked === undefined
        ? []
        : [`asks about ${asked.join(' ')}`]),
    ...(wanted.isDefault ? ['is the default'] : []),
  ]
  print(wanted, (paint) => `${paint('green', 'set')} ${visible(name)}: ${visible(said.join(', '))}\n`)
  return 0
}

const budget = async (context: CommandContext): Promise<number> => {
  const { scope, subject } = scopeOf(context)
  if (scope === 'all' || scope === 'tool') throw context.wrong('a budget is of one --agent or one --profile')
  const [calls, cost, ms] = [context.option('calls'), context.option('cost'), parseSpan(context.option('per') ?? '')]
  if (ms === undefined || ms < 1000)
    throw context.wrong('the budget has no span', 'say in which one: --per 1h, --per 1d')
  const seconds = Math.floor(ms / 1000)
  if (context.switches.has('off')) {
    await context.store.ask('removeBudget', { team: await context.team(), scope, subject, seconds })
    context.print(
      { scope, subject, seconds, status: 'removed' },
      (paint) =>
        `${paint('green', 'removed')} the budget of ${scope} ${visible(subject)} per ${renderWindow(seconds)}\n`,
    )
    return 0
  }
  if (calls === undefined && cost === undefined)
    throw context.wrong('the budget has no limit', 'say how many: --calls N or --cost N; or remove it: --off')
  const [maxCalls, maxCost] = [amountOf('calls', calls, context), amountOf('cost', cost, context)]
  if (maxCalls !== undefined && !Number.isInteger(maxCalls))
    throw context.wrong(`--calls needs a whole number: ${calls ?? ''}`)
  const wanted = {
    scope,
    subject,
    seconds,
    ...(maxCalls === undefined ? {} : { maxCalls }),
    ...(maxCost === undefined ? {} : { maxCost }),
  }
  await context.store.ask('setBudget', { team: await context.team(), ...wanted })
  const limits = [
    ...(maxCalls === undefined ? [] : [`${String(maxCalls)} calls`]),
    ...(maxCost === undefined ? [] : [`a cost of ${String(maxCost)}`]),
  ]
  context.print(
    wanted,
    (paint) =>
      `${paint('green', 'set')} the budget of ${scope} ${visible(subject)}: ${limits.join(' and ')} per ` +
      `${renderWindow(seconds)}\n`,
  )
  return 0
}

const limit = async (context: CommandContext): Promise<number> => {
  const [agent, text] = [context.option('agent'), context.option('waiting')]
  const isOff = context.switches.has('off')
  if ((text === undefined) === !isOff)
    throw context.wrong(
      'the limit is missing, or given twice',
      'say how many questions may wait: --waiting N; or remove the limit: --off',
    )
  const waiting = amountOf('waiting', text, context)
  if (waiting !== undefined && !Number.isInteger(waiting))
    throw context.wrong(`--waiting needs a whole number: ${text ?? ''}`)
  const wanted = { ...(agent === undefined ? {} : { agent }), ...(waiting === undefined ? {} : { waiting }) }
  await context.store.ask('limitWaiting', { team: await context.team(), ...wanted })
  const whose = agent === undefined ? 'every agent' : `agent ${visible(agent)}`
  context.print(wanted, (paint) =>
    waiting === undefined
      ? `${paint('green', 'removed')} the limit of ${whose}\n`
      : `${paint('green', 'set')} the limit of ${whose}: ${String(waiting)} questions that wait\n`,
  )
  return 0
}

const amountOf = (
  name: string,
  text: string | undefined,
  { wrong }: Pick<CommandContext, 'wrong'>,
): number | undefined => {
  if (text === undefined) return undefined
  const amount = Number(text)
  if (text.trim() === '' || !Number.isFinite(amount) || amount < 0)
    throw wrong(`--${name} needs a number, at least 0: ${text}`)
  return amount
}
