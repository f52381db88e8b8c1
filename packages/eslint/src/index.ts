import type { ESLint, Linter } from 'eslint'

import { opaqueCode } from './opaque-code.js'
import { packageReach } from './package-reach.js'
import { requirePolicy } from './require-policy.js'
import { withinPolicy } from './within-policy.js'

const plugin = {
  meta: { name: 'cordon' },
  rules: {
    'within-policy': withinPolicy,
    'opaque-code': opaqueCode,
    'require-policy': requirePolicy,
    'package-reach': packageReach,
  },
} satisfies ESLint.Plugin

const recommended: Linter.Config = {
  name: 'cordon/recommended',
  plugins: { cordon: plugin },
  rules: {
    'cordon/within-policy': 'error',
    'cordon/opaque-code': 'error',
    'cordon/require-policy': 'error',
    'cordon/package-reach': 'warn',
  },
}

/** The plugin for ESLint, for flat configurations. */
export const cordon = { ...plugin, configs: { recommended } }
