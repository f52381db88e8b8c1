import { flag, value, values } from 'cordon/commands'
import { storeHelp } from '../options/store-help.js'

export const TEAM_HELP = storeHelp({
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
  options: [
    value('reason', 'TEXT', 'the reason (stop, pause)', 'because'),
    flag('cancel', 'also cancel running calls, and wait (stop)', 'now kill force'),
    value('wait', 'TIME', 'how long to wait: 10s, 2m (default: 30s) (stop --cancel)', 'timeout'),
    value('agent', 'NAME', 'this agent (stop, pause, resume, budget, limit)'),
    value('tool', 'TOOL', 'this tool (stop, pause, resume)'),
    value('profile', 'NAME', 'this profile (stop, pause, resume, budget)'),
    values('allow', 'TOOL', 'allow this tool (default: all) (profile)'),
    values('deny', 'TOOL', 'deny this tool (profile)'),
    values('group', 'NAME', 'allow this category (default: all) (profile)'),
    flag('ask', 'every call needs approval (profile)'),
    values('ask-about', 'TOOL', 'every call of this tool needs approval (profile)'),
    flag('default', 'use this profile for assignments without one (profile)'),
    value('calls', 'N', 'number of calls (budget)'),
    value('cost', 'N', 'measured cost (budget)'),
    flag('off', 'remove the budget for this period, or the limit (budget, limit)', 'remove none'),
    value('waiting', 'N', 'number of pending approvals (limit)'),
    value('per', 'TIME', 'period: 1m, 1h, 1d (budget)'),
  ],
})
