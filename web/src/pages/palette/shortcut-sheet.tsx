import { Code, Group, Modal, Stack, Switch, Text } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigationEntries } from '../../app/navigation-entries.ts'
import { allowSingleKeys, areSingleKeysAllowed, searchKeys } from '../../app/single-keys.ts'

interface Props {
  opened: boolean
  onClose: () => void
  organisationId: string | undefined
}

/** All shortcuts, and a switch for those of single keys, which can be in the way of speech input (WCAG 2.1.4). */
export function ShortcutSheet({ opened, onClose, organisationId }: Props) {
  const { t } = useTranslation('palette')
  const [isAllowed, setAllowed] = useState(areSingleKeysAllowed)
  const pages = useNavigationEntries(organisationId).flatMap(({ entries }) => entries)
  return (
    <Modal opened={opened} onClose={onClose} title={t('keys.title')}>
      <Stack gap={6}>
        <Shortcut keys={searchKeys()} meaning={t('keys.search')} />
        <Shortcut keys="/" meaning={t('keys.field')} />
        <Shortcut keys="?" meaning={t('keys.sheet')} />
        {pages.map(
          ({ to, label, key }) =>
            key && (
              <Shortcut key={to} keys={t('keys.then', { first: 'G', second: key.toUpperCase() })} meaning={label} />
            ),
        )}
        <Switch
          mt="sm"
          label={t('keys.enabled')}
          description={t('keys.enabledText')}
          checked={isAllowed}
          onChange={(event) => {
            allowSingleKeys(event.currentTarget.checked)
            setAllowed(event.currentTarget.checked)
          }}
        />
      </Stack>
    </Modal>
  )
}

function Shortcut({ keys, meaning }: { keys: string; meaning: string }) {
  return (
    <Group justify="space-between" wrap="nowrap">
      <Text size="sm">{meaning}</Text>
      <Code>{keys}</Code>
    </Group>
  )
}
