import '@mantine/core/styles/Checkbox.css'
import '@mantine/core/styles/CheckboxIndicator.css'
import '@mantine/core/styles/CheckboxCard.css'
import type { DiscoveredModels } from '@contract/models.ts'
import { Checkbox, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { SearchField } from '../../ui/list-controls.tsx'
import styles from './listed-models.module.css'

/** The API adds at most this many at once. */
const maximumChosen = 100

/** The listed models that have a price. None is offered until it is chosen. */
export function ListedModels(props: {
  found: DiscoveredModels
  chosen: ReadonlySet<string>
  onChange: (chosen: ReadonlySet<string>) => void
}) {
  const { found, chosen, onChange } = props
  const { t } = useTranslation('models')
  const format = useFormat()
  const [search, setSearch] = useState('')
  const priced = found.data.filter(({ prices }) => prices !== null)
  const shown = priced.filter(({ wireId }) => wireId.toLowerCase().includes(search.trim().toLowerCase()))
  const toggle = (wireId: string) => {
    const next = new Set(chosen)
    if (!next.delete(wireId)) next.add(wireId)
    onChange(next)
  }
  return (
    <Stack gap="xs" role="group" aria-label={t('picker.models')}>
      <Text size="sm" fw={600} role="status">
        {t('picker.counts', { priced: format.number(priced.length), count: found.total })}
      </Text>
      <Dimmed>{t(priced.length === 0 ? 'picker.noneText' : 'picker.modelsText')}</Dimmed>
      {priced.length > 8 && <SearchField label={t('picker.searchModels')} value={search} onChange={setSearch} />}
      <ul className={styles['list']} tabIndex={priced.length > 8 ? 0 : undefined} aria-label={t('picker.models')}>
        {shown.map(({ wireId, prices, kind }) => (
          <li key={wireId}>
            <Checkbox
              checked={chosen.has(wireId)}
              disabled={!chosen.has(wireId) && chosen.size >= maximumChosen}
              onChange={() => toggle(wireId)}
              label={
                <Text span ff="monospace" size="sm">
                  {wireId}
                </Text>
              }
            />
            <Group gap={6} className={styles['price']!}>
              {kind !== 'chat' && <Dimmed size="xs">{t(`kind.${kind}`)}</Dimmed>}
              <Dimmed size="xs">
                {format.money(prices!.input, { exact: true })} / {format.money(prices!.output, { exact: true })}
              </Dimmed>
            </Group>
          </li>
        ))}
      </ul>
    </Stack>
  )
}
