// Removes text that looks like a secret from records. This is a second line of defence: arguments are recorded by
// hash, and values of the environment not at all.

export const REDACTED = '[redacted]'

/** Names of parameters with secret values. */
const SECRET_NAME =
  /pass(word|wd|phrase)|secret|token|api[-_]?key|apikey|credential|authori[sz]ation|cookie|private[-_]?key|access[-_]?key|session[-_]?key|signature|^(auth|pin|otp|pwd|bearer)$/i

export const isSecretName = (name: string): boolean => SECRET_NAME.test(name)

const SECRET_TEXT = new RegExp(
  [
    // A private key in PEM.
    /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/,
    // Tokens that say what they are: GitHub, GitLab, OpenAI and kin, Slack, AWS, Google, npm, PyPI, Stripe.
    /\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}/,
    /\bsk-[\w-]{16,}|\b[sr]k_(?:live|test)_\w{10,}|\bxox[abeoprs]-[\w-]{10,}/,
    /\bA(?:KIA|SIA)[A-Z0-9]{16}\b|\bAIza[\w-]{30,}|\bnpm_[A-Za-z0-9]{30,}|\bpypi-[\w-]{30,}/,
    // JSON web tokens. The dots are checked first, once for each run of letters. A search from every "eyJ" to the end
    // of its run would take quadratic time.
    /(?<![\w-])(?=[\w-]{11,}\.[\w-]{8,}\.)[\w-]*?eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/,
    // `Bearer ...`, `Basic ...` as in a header.
    /(?<=\b(?:bearer|basic) )[\w.~+/=-]{8,}/,
    // The password in a URL.
    /(?<=\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@]{0,100}:)[^\s/@]+(?=@)/,
    // `password=...`, `--token ...`, `api_key: ...`
    /(?<=(?:pass(?:word|wd)?|secret|token|api[-_]?key|access[-_]?key)["']?\s{0,3}[=:]\s{0,3}["']?)[^\s"'&,;]{4,}/,
    /(?<=--(?:password|token|secret|api-key)\s)\S{4,}/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gi',
)

/**
 * A fast check: every text with a match of SECRET_TEXT contains one of these. Names of settings and files do not, such
 * as `npm_config_cache` and `/etc/passwd`: to compile SECRET_TEXT takes 3 ms.
 */
const HINT =
  /BEGIN |gh[pousr]_|github_pat_|glpat-|sk-|k_live|k_test|xox|akia|asia|aiza|npm_[a-z\d]{30}|pypi-|eyj|bearer |basic |:\/\/|(?:pass(?:word|wd)?|secret|token|key)["']?\s{0,3}[=:]|--(?:password|token|secret|api-key)\s/i

export const redactText = (text: string): string =>
  text.length >= 8 && HINT.test(text) ? text.replace(SECRET_TEXT, REDACTED) : text

export const cut = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length)}… (${text.length - length} more)`
