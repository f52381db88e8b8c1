import type { CommandHelp } from '../help.js'
import { EXIT_STATUS_NOTES, JSON_OPTION, STORE_OPTIONS } from '../store/store-help.js'

export const TEAM_HELP: CommandHelp = {
  usage:
    'cordon team create NAME | show | add|remove MEMBER KIND… | stop|pause|resume | profile NAME | budget | ' +
    'limit [options]',
  summary: 'manage members, stops, profiles and budgets of a team',
  description: [
    'create makes a team with you (--as) as its admin. add and remove change members: admin, operator (approves), agent',
    '(calls) or runner (runs approved calls). stop refuses calls. pause accepts calls but starts none. Both ' +
      'apply to the',
    'team or to one --agent, --tool or --profile, until resume. Running calls continue and are listed; stop ' +
      '--cancel stops',
    'them too, and waits. profile replaces the tools that its agents may call: those of --allow, in the ' +
      'groups of --group,',
    'without those of --deny. budget limits the calls or the cost of an agent or a profile; show prints its ' +
      'use. limit sets',
    'how many approvals of an agent may be pending at the same time (default: 100).',
  ],
  groups: [
    {
      title: 'options',
      options: [
        { name: 'reason', value: 'TEXT', meantBy: ['because'], help: 'the reason (stop, pause)' },
        { name: 'cancel', meantBy: ['now', 'kill', 'force'], help: 'also cancel running calls, and wait (stop)' },
        {
          name: 'wait',
          value: 'TIME',
          meantBy: ['timeout'],
          help: 'how long to wait: 10s, 2m (default: 30s) (stop --cancel)',
        },
        { name: 'agent', value: 'NAME', help: 'this agent (stop, pause, resume, budget, limit)' },
        { name: 'tool', value: 'TOOL', help: 'this tool (stop, pause, resume)' },
        { name: 'profile', value: 'NAME', help: 'this profile (stop, pause, resume, budget)' },
        { name: 'allow', value: 'TOOL', repeatable: true, help: 'allow this tool (default: all) (profile)' },
        { name: 'deny', value: 'TOOL', repeatable: true, help: 'deny this tool (profile)' },
        { name: 'group', value: 'NAME', repeatable: true, help: 'allow this category (default: all) (profile)' },
        { name: 'ask', help: 'every call needs approval (profile)' },
        {
          name: 'ask-about',
          value: 'TOOL',
          repeatable: true,
          help: 'every call of this tool needs approval (profile)',
        },
        { name: 'default', help: 'use this profile for assignments without one (profile)' },
        { name: 'calls', value: 'N', help: 'number of calls (budget)' },
        { name: 'cost', value: 'N', help: 'measured cost (budget)' },
        {
          name: 'off',
          meantBy: ['remove', 'none'],
          help: 'remove the budget for this period, or the limit (budget, limit)',
        },
        { name: 'waiting', value: 'N', help: 'number of pending approvals (limit)' },
        { name: 'per', value: 'TIME', help: 'period: 1m, 1h, 1d (budget)' },
        JSON_OPTION,
      ],
    },
    { title: 'store', options: STORE_OPTIONS },
  ],
  notes: EXIT_STATUS_NOTES,
}
