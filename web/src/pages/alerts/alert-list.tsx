import { Group, List, Stack, Text } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck, IconFlame } from '@tabler/icons-react'
import type { AlertBody } from '@contract/alerts.ts'
import { useTranslation } from 'react-i18next'
import { AnchorLink } from '../../ui/link.tsx'
import { Time } from '../../ui/time.tsx'
import { useAlertText } from './use-alert-text.ts'

/** Alerts with when they were raised and resolved. `linked`: with a link to where the operator can act. */
export function AlertList({ items, linked = false }: { items: readonly AlertBody[]; linked?: boolean }) {
  return (
    <List
      listStyleType="none"
      spacing="sm"
      styles={{ itemWrapper: { display: 'block' }, itemLabel: { display: 'block' } }}
    >
      {items.map((alert) => (
        <List.Item key={alert.id}>
          <AlertItem alert={alert} linked={linked} />
        </List.Item>
      ))}
    </List>
  )
}

function AlertItem({ alert, linked }: { alert: AlertBody; linked: boolean }) {
  const { t } = useTranslation('alerts')
  const textOf = useAlertText()
  return (
    <Group gap="sm" wrap="nowrap" align="flex-start">
      <AlertIcon alert={alert} />
      <Stack gap={0} miw={0}>
        <Text size="sm" fw={500} style={{ overflowWrap: 'anywhere' }}>
          {textOf(alert)}
        </Text>
        <Text size="xs" c="dimmed" component="div">
          {t(`kind.${alert.kind}`)} · {t(`severity.${alert.severity}`)} · {t('raised')} <Time value={alert.raisedAt} />
          {alert.resolvedAt !== null && (
            <>
              {' '}
              · {t('resolved')} <Time value={alert.resolvedAt} />
            </>
          )}
          {linked && (
            <>
              {' '}
              · <PlaceLink alert={alert} />
            </>
          )}
        </Text>
      </Stack>
    </Group>
  )
}

function AlertIcon({ alert: { severity, resolvedAt } }: { alert: AlertBody }) {
  const style = { flex: 'none', marginTop: 2 }
  if (resolvedAt !== null)
    return <IconCircleCheck size={18} color="var(--mantine-color-teal-filled)" aria-hidden style={style} />
  if (severity === 'critical')
    return <IconFlame size={18} color="var(--mantine-color-error)" aria-hidden style={style} />
  return <IconAlertTriangle size={18} color="var(--mantine-color-orange-filled)" aria-hidden style={style} />
}

/** Where the operator looks or acts. */
function PlaceLink({ alert: { kind, details, organisationId } }: { alert: AlertBody }) {
  const { t } = useTranslation('alerts')
  const id = organisationId ?? details['organisationId']
  if (typeof id === 'string') {
    return (
      <AnchorLink
        to="/operator/organisations/$organisationId"
        params={{ organisationId: id }}
        size="xs"
        underline="always"
      >
        {t('place.organisation')}
      </AnchorLink>
    )
  }
  if (kind === 'provider' || kind === 'model') {
    return (
      <AnchorLink to="/operator/health" size="xs" underline="always">
        {t('place.health')}
      </AnchorLink>
    )
  }
  return (
    <AnchorLink to="/operator/system" size="xs" underline="always">
      {t('place.system')}
    </AnchorLink>
  )
}
