import { Text, VisuallyHidden } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Dimmed } from '../../ui/dimmed.tsx'
import classes from './audit.module.css'

type Values = Record<string, unknown> | null

/** The changed fields with their values before and after. Each member of an object has a separate row. */
export function AuditDiff({ before, after }: { before: Values; after: Values }) {
  const { t } = useTranslation('operator')
  const rows = differences(before, after)
  if (rows.length === 0) return <Dimmed>{t('audit.noValues')}</Dimmed>
  return (
    <table className={classes.diff}>
      <thead>
        <tr>
          <th scope="col">{t('audit.field')}</th>
          {before && <th scope="col">{t('audit.before')}</th>}
          {after && <th scope="col">{t('audit.after')}</th>}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ field, was, is }) => (
          <tr key={field}>
            <th scope="row">
              <Text span ff="monospace" size="xs">
                {field}
              </Text>
            </th>
            {before && <Value className={classes.before} sign="−" value={was} />}
            {after && <Value className={classes.after} sign="+" value={is} />}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Value({ className, sign, value }: { className: string | undefined; sign: string; value: string | undefined }) {
  const { t } = useTranslation('operator')
  if (value === undefined)
    return (
      <td>
        <VisuallyHidden>{t('audit.absent')}</VisuallyHidden>
      </td>
    )
  return <td className={className}>{`${sign} ${value}`}</td>
}

interface Difference {
  field: string
  was: string | undefined
  is: string | undefined
}

function differences(before: Values, after: Values): Difference[] {
  const was = flatten(before)
  const is = flatten(after)
  return [...new Set([...was.keys(), ...is.keys()])]
    .map((field) => ({ field, was: was.get(field), is: is.get(field) }))
    .filter((row) => before === null || after === null || row.was !== row.is)
}

function flatten(values: Values, prefix = ''): Map<string, string> {
  return new Map(
    Object.entries(values ?? {}).flatMap(([name, value]): [string, string][] =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? [...flatten(value as Record<string, unknown>, `${prefix}${name}.`)]
        : [[prefix + name, shown(value)]],
    ),
  )
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? '[]' : value.map(shown).join('\n')
  return typeof value === 'string' ? value : JSON.stringify(value)
}
