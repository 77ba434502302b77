import { Button, Menu, Text } from '@mantine/core'
import { IconCheck, IconSelector } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useSession } from './session.ts'

/** Chooses among the organisations of the person. An operator reaches others through the page Organisations. */
export function OrganisationSwitcher({ organisationId }: { organisationId: string | undefined }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const { organisations, isOperator } = useSession()
  const current = organisations.find(({ id }) => id === organisationId)
  if (organisations.length === 0) return null
  const name = current?.name ?? (isOperator && organisationId ? t('navigation.otherOrganisation') : '')
  return (
    <Menu width="target" position="bottom-start">
      <Menu.Target>
        <Button
          fullWidth
          variant="default"
          justify="space-between"
          rightSection={<IconSelector size={16} aria-hidden />}
          aria-label={t('navigation.switchOrganisation', { name })}
        >
          <Text size="sm" truncate>
            {name}
          </Text>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {organisations.map(({ id, name: label }) => (
          <Menu.Item
            key={id}
            leftSection={id === organisationId ? <IconCheck size={14} aria-hidden /> : undefined}
            onClick={() => void navigate({ to: `/organisations/${id}/spaces` as '/' })}
          >
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
