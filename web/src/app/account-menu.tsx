import { Button, Menu, Text } from '@mantine/core'
import { IconUserCircle } from '@tabler/icons-react'
import { Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import { lazyPart } from '../ui/lazy-part.tsx'
import { useSession } from './session.ts'

const loadEntries = () => import('./account-entries.tsx')
const AccountEntries = lazyPart(loadEntries, 'AccountEntries')

export function AccountMenu() {
  const { t } = useTranslation()
  const { person } = useSession()
  // Before a click, so that the arrow keys find the entries.
  const prepare = () => void loadEntries()
  return (
    <Menu width={220} position="top-start">
      <Menu.Target>
        <Button
          fullWidth
          variant="subtle"
          color="gray"
          justify="flex-start"
          leftSection={<IconUserCircle size={18} aria-hidden />}
          onPointerEnter={prepare}
          onFocus={prepare}
        >
          <Text size="sm" truncate c="var(--mantine-color-text)">
            {person?.name ?? t('account.operatorToken')}
          </Text>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Suspense>
          <AccountEntries />
        </Suspense>
      </Menu.Dropdown>
    </Menu>
  )
}
