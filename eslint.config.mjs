import { defineConfig } from 'eslint/config'
import tseslint from 'typescript-eslint'

const NO_EXPORT_ALL = {
  selector: 'ExportAllDeclaration',
  message: 'List the exported names: the public surface is explicit.',
}
const NO_DEFAULT_EXPORT = {
  selector: 'ExportDefaultDeclaration',
  message: 'Export a name, so that it reads the same everywhere.',
}
const NO_LITERAL_SPREAD = {
  selector: 'ObjectExpression > SpreadElement > ObjectExpression',
  message: 'Write plain properties: the compiler does not check the names of spread ones.',
}
const NO_ENUM = { selector: 'TSEnumDeclaration', message: 'Use a union of string literals.' }

export default defineConfig(
  { ignores: ['**/dist/', '**/build/', 'coverage/', '**/node_modules/'] },
  {
    files: [
      'packages/*/src/**/*.ts',
      'packages/*/test/**/*.ts',
      'test/**/*.ts',
      'bench/**/*.ts',
      'examples/**/*.ts',
      '*.config.ts',
    ],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: {
        project: ['packages/*/tsconfig.json', 'test/tsconfig.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/no-import-type-side-effects': 'error',
      '@typescript-eslint/strict-boolean-expressions': 'error',
      // Numbers in messages are fine; objects and undefined are the mistakes this rule is for.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'eqeqeq': 'error',
      'no-console': 'error',
      'no-restricted-syntax': ['error', NO_EXPORT_ALL, NO_DEFAULT_EXPORT, NO_ENUM, NO_LITERAL_SPREAD],
    },
  },
  {
    // Vitest reads its configuration from a default export.
    files: ['*.config.ts'],
    rules: { 'no-restricted-syntax': ['error', NO_EXPORT_ALL, NO_LITERAL_SPREAD] },
  },
  {
    files: ['**/*.mjs', '**/*.js'],
    languageOptions: { ecmaVersion: 2024, sourceType: 'module' },
    rules: {
      'eqeqeq': 'error',
      'no-restricted-syntax': ['error', NO_LITERAL_SPREAD],
      'no-undef': 'off',
      'no-unused-vars': ['error', { varsIgnorePattern: '^_' }],
      'prefer-const': 'error',
    },
  },
)
