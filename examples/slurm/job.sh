#!/usr/bin/env bash
# A run that is longer than a job may be: asks for a signal ahead of the limit, stops with a checkpoint,
# and submits itself again until the run is done. Submit it in the folder of the model:
#   sbatch --time=24:00:00 path/to/job.sh model.yaml [-options]
#SBATCH --job-name=concord
#SBATCH --ntasks=2
#SBATCH --signal=B:USR1@60
#SBATCH --open-mode=append
#SBATCH --output=concord.log

model=${1:?give a model file}
name=$(basename "$model" .yaml)
script=$(scontrol show job "$SLURM_JOB_ID" | sed -n 's/^ *Command=\([^ ]*\).*/\1/p')

mpirun -n "$SLURM_NTASKS" "${CONCORD:-concord}" run "$@" \
  -cosim_output "$name.h5" -cosim_checkpoint "$name.chk" -cosim_restart auto &
run=$!
trap 'kill -USR1 $run' USR1 # mpirun passes SIGUSR1 on to the ranks

wait $run
code=$?
while kill -0 $run 2> /dev/null; do # the signal has ended the first wait, not the run
  wait $run
  code=$?
done

if ((code == 3)); then
  sbatch --time="$(squeue -h -j "$SLURM_JOB_ID" -o %l)" "$script" "$@"
  exit 0
fi
exit $code
