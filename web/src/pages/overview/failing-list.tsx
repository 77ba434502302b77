import { List, Text } from '@mantine/core'
import type { FailingDeploymentBody } from '@contract/console-health.ts'
import { useTranslation } from 'react-i18next'
import { AnchorLink } from '../../ui/link.tsx'
import { Time } from '../../ui/time.tsx'

/** Deployments that at least one instance fails to call, by provider. */
export function FailingList({ items }: { items: readonly FailingDeploymentBody[] }) {
  const { t } = useTranslation('overview')
  return (
    <List listStyleType="none" spacing={4}>
      {items.map((item) => (
        <List.Item key={`${item.deployment} ${item.kind}`}>
          <Text size="sm" component="div">
            <AnchorLink
              to="/operator/deployments"
              search={{ open: item.deployment, search: item.deployment }}
              size="sm"
              underline="always"
            >
              {item.model}
            </AnchorLink>{' '}
            {t('health.at', { provider: item.provider })}
          </Text>
          <Text size="xs" c="dimmed" component="div">
            {t(`health.kind.${item.kind}`)}
            {item.errorClass !== null && `: ${item.errorClass}`}
            {item.status !== null && ` (${item.status})`} · <Time value={item.since} /> ·{' '}
            {t('health.instances', { count: item.instances })}
          </Text>
        </List.Item>
      ))}
    </List>
  )
}
