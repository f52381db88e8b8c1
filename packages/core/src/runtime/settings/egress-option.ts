// Checks the option `egress`.
import { problemOfCertificates } from '../../egress/index.js'
import type { VaultAccess } from '../../egress/index.js'
import { isMapping, list, such } from '../../shapes/index.js'
import type { Shape } from '../../shapes/index.js'

import type { EgressOptions } from '../network/egress-options.js'
import { aFunction, aText, shapeOfCheck, mapping, unshown } from '../option-checks.js'

/** Errors never show the value: it may be a key, given by mistake. */
const certificates: Shape<readonly string[]> = shapeOfCheck((value, place) => {
  const fix = 'write it like authorities: [readFileSync("ca.pem", "utf8")]'
  if (!Array.isArray(value)) throw place.hidden().wrong(value, 'a list of texts with certificates in PEM', fix)
  for (const [at, text] of value.entries()) {
    const wrong = typeof text === 'string' ? problemOfCertificates(text) : { problem: 'it is no text', fix }
    if (wrong === undefined) continue
    const mend = wrong.problem.startsWith('it holds no certificate in PEM') ? `${fix}; ${wrong.fix}` : wrong.fix
    throw place.at(at).told(`this: ${wrong.problem}`, 'a text with certificates in PEM', mend)
  }
})

/** A mapping of any names. Errors never show a text in its place: it may be a secret. */
const named = <Value>(each: Shape<Value>, expected: string, fix: string): Shape<Readonly<Record<string, Value>>> =>
  shapeOfCheck((value, place) => {
    if (!isMapping(value)) throw place.hidden().wrong(value, expected, fix)
    for (const [name, one] of Object.entries(value)) each.read(one, place.entry(name))
  })

const vault = mapping<VaultAccess>(
  {
    address: such('the address of Vault', (value) => typeof value === 'string' && /^https?:\/\//.test(value), {
      fix: 'write it like https://vault.example.org:8200',
    }),
    token: aText('a token'),
    namespace: aText('a name'),
    authorities: certificates,
  },
  'vault: { address: "https://vault.example.org:8200", token }',
  {
    required: ['address', 'token'],
    expected: 'a mapping with address and token',
  },
)

const SECRETS = 'write it like secrets: { "github-token": "env:GITHUB_TOKEN" }'
const PINS = 'write it like pins: { "db.internal": ["10.0.0.5"] }'

// Names and addresses are checked later, with errors of their own.
export const egressOption = mapping<EgressOptions>(
  {
    authorities: certificates,
    // Never shown: a text may be the secret itself.
    secrets: named(
      unshown(
        such<string>('', (value) => typeof value === 'string'),
        'where its value comes from, as a text',
        SECRETS,
      ),
      'a mapping of credentials to where their values come from',
      SECRETS,
    ),
    vault,
    stored: aFunction('a function', 'write it like stored: async (team, ref) => Buffer.from(await read(team, ref))'),
    pins: named(
      list(aText('an IP address', PINS), { expected: 'a list of addresses', fix: PINS }),
      'a mapping of names to lists of addresses',
      PINS,
    ),
  },
  'egress: { secrets: { "github-token": "env:GITHUB_TOKEN" }, pins: { "db.internal": ["10.0.0.5"] } }',
)
