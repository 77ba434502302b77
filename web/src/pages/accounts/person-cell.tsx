import { Badge, Group, Stack, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useSession } from '../../app/session.ts'
import { Dimmed } from '../../ui/dimmed.tsx'

interface PersonCellProps {
  id: string
  name: string
  email: string
  emailVerified: boolean
  isOperator?: boolean
}

/** Name and e-mail of a person, and whether the e-mail is verified. */
export function PersonCell({ id, name, email, emailVerified, isOperator = false }: PersonCellProps) {
  const { t } = useTranslation('accounts')
  const { person: self } = useSession()
  return (
    <Stack gap={0}>
      <Group gap="xs">
        <Text size="sm" fw={500}>
          {name} {id === self?.id && `(${t('you')})`}
        </Text>
        {isOperator && <Badge variant="default">{t('role.operator')}</Badge>}
      </Group>
      <Dimmed size="xs">{email}</Dimmed>
      {!emailVerified && (
        <Dimmed size="xs" title={t('unverifiedText')}>
          {t('unverified')}
        </Dimmed>
      )}
    </Stack>
  )
}
