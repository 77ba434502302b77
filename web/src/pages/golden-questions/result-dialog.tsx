import { Alert, List, Modal, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import type { GoldenResultBody } from '@contract/golden-runs.ts'
import { errorText } from '../../api/error-text.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { AnchorLink } from '../../ui/link.tsx'
import { useRights } from '../../app/session.ts'
import { spaceRoute } from '../spaces/space-route.tsx'
import styles from './golden.module.css'
import { questionOf } from './queries.ts'
import { Outcome } from './result-table.tsx'

/** What was expected of one question, what was found and cited, and the answer. */
export function ResultDialog(props: { opened: boolean; result: GoldenResultBody; onClose: () => void }) {
  const { opened, result, onClose } = props
  const { t } = useTranslation('golden-questions')
  const { expectedDocuments, expectedFacts, citedDocuments, failedMeasures, answer, error, mustAbstain } = result
  return (
    <Modal opened={opened} onClose={onClose} title={questionOf(result)} size="xl">
      <Stack>
        <Outcome result={result} />
        {error !== null && <Alert color="red">{errorText(error, error)}</Alert>}
        {failedMeasures.length > 0 && (
          <Text size="sm">
            {t('results.why', { measures: failedMeasures.map((name) => t(`why.${name}`)).join(', ') })}
          </Text>
        )}
        {mustAbstain && <Text size="sm">{t('form.mustAbstain')}</Text>}
        <Part title={t('results.answer')}>
          <Text size="sm" className={styles['text']!}>
            {answer ?? t('results.noAnswer')}
          </Text>
        </Part>
        {expectedDocuments.length > 0 && (
          <Part title={t('field.documents')}>
            <List size="sm">
              {expectedDocuments.map(({ id, name, rank, isCited }) => (
                <List.Item key={id}>
                  {name}: {rank === null ? t('results.notFound') : t('results.rank', { rank })},{' '}
                  {isCited ? t('results.isCited') : t('results.notCited')}
                </List.Item>
              ))}
            </List>
          </Part>
        )}
        {expectedFacts.length > 0 && (
          <Part title={t('field.facts')}>
            <List size="sm">
              {expectedFacts.map(({ text, isFound }) => (
                <List.Item key={text}>
                  {text}: {isFound ? t('results.factFound') : t('results.factMissing')}
                </List.Item>
              ))}
            </List>
          </Part>
        )}
        {citedDocuments.length > 0 && (
          <Part title={t('results.cited')}>
            <Text size="sm">{citedDocuments.map(({ name }) => name).join(', ')}</Text>
          </Part>
        )}
        <Cost result={result} />
      </Stack>
    </Modal>
  )
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div>
      <Text size="sm" fw={600} mb={4}>
        {title}
      </Text>
      {children}
    </div>
  )
}

/** Receipts are for administrators. */
function Cost({ result: { costUsd, requestId } }: { result: GoldenResultBody }) {
  const { t } = useTranslation('golden-questions')
  const format = useFormat()
  const { organisationId } = spaceRoute.useParams()
  const { isAdministrator } = useRights(organisationId)
  return (
    <Dimmed size="xs">
      {t('runs.cost', { cost: format.money(costUsd) })}{' '}
      {requestId !== null && isAdministrator && (
        <AnchorLink
          to="/organisations/$organisationId/receipts/$requestId"
          params={{ organisationId, requestId }}
          inherit
          underline="always"
        >
          {t('results.receipt')}
        </AnchorLink>
      )}
    </Dimmed>
  )
}
