import { join } from 'node:path'

import { parseRules } from '../../gate/index.js'
import type { RuleInput, RuleSet, RuleSetInput } from '../../gate/index.js'
import type { Places } from '../../policy/index.js'
import { list, such } from '../../shapes/index.js'
import type { Shape } from '../../shapes/index.js'

import { loadRuleFiles } from '../rule-files/index.js'

export type GivenRules = RuleSet | RuleSetInput | readonly RuleInput[]

export interface RuleOptions {
  /** Loaded rule sets (`loadRules`), or rules as values. */
  readonly rules?: readonly GivenRules[]
  /**
   * Which rule files are read too. `managed` (default): those of the machine. `all`: also those of the user and of the
   * workspace, which can only deny and ask unless the user trusts it. `none`: no files.
   */
  readonly ruleFiles?: 'managed' | 'all' | 'none'
  /** The folder of the user's rule files (default: `.config/cordon` in the home). */
  readonly configFolder?: string
}

const SHAPE =
  'write it like rules: [{ rules: [{ effect: "deny", tool: "bash", because: "…" }] }]; rule files are read ' +
  'with the option ruleFiles'

/** A list of sets and not of rules: each set has a source of its own. */
export const ruleOption: Shape<readonly GivenRules[]> = list(
  such<GivenRules>('a rule set', (each) => typeof each === 'object' && each !== null && !('effect' in each), {
    fix: SHAPE,
  }),
  { expected: 'a list of rule sets', fix: SHAPE },
)

export interface RuleSets {
  /** From files, which other agents may share. */
  readonly ofFiles: readonly RuleSet[]
  /** Of this runtime only. */
  readonly own: readonly RuleSet[]
}

export const ruleSetsOf = (options: RuleOptions, places: Places): RuleSets => {
  const given = options.rules ?? []
  const own = given.flatMap((set, at) => (isLoaded(set) ? [] : [ownRuleSet(set, `rules[${at}]`, places)]))
  return { ofFiles: [...filesOf(options, places), ...given.filter(isLoaded)], own }
}

export const ownRuleSet = (set: GivenRules, name: string, places: Places): RuleSet =>
  isLoaded(set) ? set : parseRules(set, name, { source: 'session', places })

const filesOf = ({ ruleFiles = 'managed', configFolder }: RuleOptions, places: Places): readonly RuleSet[] => {
  switch (ruleFiles) {
    case 'none':
      return []
    case 'managed':
      return loadRuleFiles({ ...places, userFolder: undefined, projects: 'left-out', files: [] })
    case 'all':
      return loadRuleFiles({
        ...places,
        userFolder: configFolder ?? join(places.home, '.config', 'cordon'),
        projects: 'read',
        files: [],
      })
  }
}

const isLoaded = (set: GivenRules): set is RuleSet => 'source' in set && 'rules' in set && 'managedOnly' in set
