/** Whether something answers, and what is wrong if it does not. */

import { IconCircleCheckFilled, IconCircleXFilled, IconHelpCircle } from '@tabler/icons-react'

import type { ConnectionState } from '../../api/types'
import { Ago } from '../../parts/Time'
import { t } from '../../texts'

export function Connection({ state }: { state: ConnectionState | undefined }) {
  const isGood = state?.status === 'Successful'
  const isBad = state?.status === 'Failed'
  const Shape = isGood ? IconCircleCheckFilled : isBad ? IconCircleXFilled : IconHelpCircle
  return (
    <div>
      <div className="row">
        <span className={`row tone-${isGood ? 'good' : isBad ? 'bad' : 'none'}`} aria-hidden><Shape size={15} /></span>
        <span>{isGood ? t.settings.connected : isBad ? t.settings.failed : t.settings.unknown}</span>
        {state?.attemptedAt && <span className="quiet"><Ago time={state.attemptedAt} /> {t.common.ago}</span>}
      </div>
      {state?.message && !isGood && <p className="soft" style={{ overflowWrap: 'anywhere' }}>{state.message}</p>}
    </div>
  )
}
