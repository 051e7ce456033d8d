/*
 * /health, and the routes that orchestrators ask.  Those are open and say yes or no and nothing else to who
 * has no key (decisions 23).
 */
#ifndef WEIR_GATEWAY_HEALTH_H
#define WEIR_GATEWAY_HEALTH_H

struct weir_job;

/*
 * How the deployments are: by what the background checks found last or, without those, by asking each of them
 * now.  `?model=` leaves those of one group, or the one of that id.
 */
void weir_health_deployments(struct weir_job *job);

#endif
