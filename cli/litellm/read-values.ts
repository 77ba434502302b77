import type { Report } from './import-plan.ts'

export type Parameters = Record<string, unknown>

export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined

/** YAML writes 1e-7 with or without quotes. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined
  const number = Number(value)
  return value !== '' && Number.isFinite(number) ? number : undefined
}

export interface SecretReader {
  /** The value of a field that may be `os.environ/NAME`. undefined: absent, or reported as missing. */
  read(parameters: Parameters, field: string, setting: string): { value?: string; missing?: true }
  fromEnvironment(name: string): string | undefined
}

/** Values that LiteLLM reads from its environment are read from that of this command, then from `environment_variables`. */
export function createSecretReader(
  environment: Record<string, string | undefined>,
  variables: Parameters,
  report: Report,
): SecretReader {
  const fromEnvironment = (name: string) => textOf(environment[name]) ?? textOf(variables[name])
  return {
    fromEnvironment,
    read(parameters, field, setting) {
      const stated = textOf(parameters[field])
      if (stated === undefined) return {}
      const name = /^os\.environ\/(.+)$/.exec(stated)?.[1]
      if (name === undefined) return { value: stated }
      const value = fromEnvironment(name)
      if (value !== undefined) return { value }
      report.skipped(`${setting}.${field}`, `The environment has no ${name}. Set it and repeat the command.`)
      return { missing: true }
    },
  }
}

/** US dollars per token as US dollars per million tokens, without a rounding error: 1.5e-7 is "0.15". */
export function perMillion(perToken: number): string {
  const [mantissa = '', exponent = '0'] = String(perToken).split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const places = 6 + Number(exponent) - fraction.length
  const digits = whole + fraction
  if (places >= 0) return trim(digits + '0'.repeat(places))
  const padded = digits.padStart(1 - places, '0')
  // A price has at most 12 decimals.
  return trim(`${padded.slice(0, places)}.${padded.slice(places).slice(0, 12)}`)
}

const trim = (decimal: string) => {
  const short = decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal
  return short.replace(/^0+(?=\d)/, '')
}
