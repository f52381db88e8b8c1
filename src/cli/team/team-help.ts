import type { CommandHelp } from '../help.js'
import { EXIT_STATUS_NOTES, JSON_OPTION, STORE_OPTIONS } from '../store/store-help.js'

export const TEAM_HELP: CommandHelp = {
  usage: 'cordon team create NAME | show | add|remove MEMBER KIND… | stop|pause|resume | profile NAME | budget | limit [options]',
  summary: 'who is in a team, what is stopped, profiles and budgets',
  description: [
    'create begins a team with you (--as) as its admin. add and remove say who is admin, operator (approves), agent (calls)',
    'or runner (runs what is approved). stop refuses calls, pause lets them be asked for and starts none, both of the whole',
    'team or of one --agent, --tool or --profile, until resume. What runs already goes on, and is named; stop --cancel ends that,',
    'too, and waits until it has ended. profile says, in place of all that it said before, which tools its agents may call: those',
    'of --allow, in the groups of --group, without those of --deny. budget limits calls or cost of an agent or a profile; show',
    'prints what is used of it. limit says how many questions of an agent may wait for people at the same time (default: 100).',
  ],
  groups: [
    {
      title: 'options',
      options: [
        { name: 'reason', value: 'TEXT', meantBy: ['because'], help: 'why (stop, pause)' },
        { name: 'cancel', meantBy: ['now', 'kill', 'force'], help: 'ends what runs, too, and waits for that (stop)' },
        { name: 'wait', value: 'TIME', meantBy: ['timeout'], help: 'how long to wait for it: 10s, 2m (stop --cancel; otherwise: 30s)' },
        { name: 'agent', value: 'NAME', help: 'of this agent (stop, pause, resume, budget, limit)' },
        { name: 'tool', value: 'TOOL', help: 'of this tool (stop, pause, resume)' },
        { name: 'profile', value: 'NAME', help: 'of this profile (stop, pause, resume, budget)' },
        { name: 'allow', value: 'TOOL', repeatable: true, help: 'a tool that is allowed; without any, all are (profile)' },
        { name: 'deny', value: 'TOOL', repeatable: true, help: 'a tool that is not (profile)' },
        { name: 'group', value: 'NAME', repeatable: true, help: 'a category that is allowed; without any, all are (profile)' },
        { name: 'ask', help: 'every call needs approval (profile)' },
        { name: 'ask-about', value: 'TOOL', repeatable: true, help: 'every call of this tool needs approval (profile)' },
        { name: 'default', help: 'for assignments that name none (profile)' },
        { name: 'calls', value: 'N', help: 'how many calls (budget)' },
        { name: 'cost', value: 'N', help: 'how much measured cost (budget)' },
        { name: 'off', meantBy: ['remove', 'none'], help: 'takes the budget for this span, or the limit, away (budget, limit)' },
        { name: 'waiting', value: 'N', help: 'how many questions may wait (limit)' },
        { name: 'per', value: 'TIME', help: 'in which span: 1m, 1h, 1d (budget)' },
        JSON_OPTION,
      ],
    },
    { title: 'the store', options: STORE_OPTIONS },
  ],
  notes: EXIT_STATUS_NOTES,
}
