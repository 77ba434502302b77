import { Anchor, Group, SimpleGrid, Stack, Text, TextInput, UnstyledButton } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Dimmed } from '../../ui/dimmed.tsx'
import styles from './provider-picker.module.css'
import { hueOf, type Preset, presets } from './presets.ts'

/** All presets with a search. A server without a preset has the complete form. */
export function ProviderPicker(props: { onPick: (preset: Preset) => void; onOther: () => void }) {
  const { t } = useTranslation('models')
  const [search, setSearch] = useState('')
  const wanted = search.trim().toLowerCase()
  const found = presets.filter(({ name, id }) => name.toLowerCase().includes(wanted) || id.includes(wanted))
  return (
    <Stack>
      <TextInput
        aria-label={t('picker.search')}
        placeholder={t('picker.search')}
        leftSection={<IconSearch size={16} aria-hidden />}
        value={search}
        onChange={(event) => setSearch(event.currentTarget.value)}
        data-autofocus
      />
      <SimpleGrid component="ul" cols={{ base: 1, xs: 2 }} spacing="xs" p={0} m={0} style={{ listStyle: 'none' }}>
        {found.map((preset) => (
          <li key={preset.id}>
            <UnstyledButton className={styles['tile']!} onClick={() => props.onPick(preset)}>
              <Mark preset={preset} />
              <Text size="sm">{preset.name}</Text>
            </UnstyledButton>
          </li>
        ))}
      </SimpleGrid>
      {found.length === 0 && <Dimmed role="status">{t('picker.none')}</Dimmed>}
      <Group>
        <Anchor component="button" type="button" size="sm" onClick={props.onOther}>
          {t('picker.other')}
        </Anchor>
      </Group>
    </Stack>
  )
}

/** A monogram: the marks of companies are theirs. */
export function Mark({ preset }: { preset: Pick<Preset, 'mark' | 'name'> }) {
  return (
    <span
      className={styles['mark']}
      ref={(element) => element?.style.setProperty('--mark-hue', String(hueOf(preset.name)))}
      aria-hidden
    >
      {preset.mark}
    </span>
  )
}
